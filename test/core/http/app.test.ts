import { expect } from 'chai';
import type { HttpResponse } from '../../../src/core/http/response/http-response.ts';
import type { ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { loadOf, manyTools } from '../../support/platform/loads.ts';
import { exchange, get, requestText, sendTo } from '../../support/raw-http.ts';
import { expectNoUncaught, LIST, post, READ, READS, RPC, type Served, serve, serveRpc } from './served.ts';

const TOKEN = 'token+of/the~test==';
const SECRETS = [TOKEN, encodeURIComponent(TOKEN)];
const fields = { Authorization: `Bearer ${TOKEN}`, 'X-Request-Id': 'mine' };

/** A bug whose message contains the token. */
const bug = () => new TypeError(`cannot take ${SECRETS.join(' or ')}`);

const throwing = (): never => {
  throw bug();
};
const rejecting = () => Promise.reject(bug());
const coding = (gzipped: () => unknown) => ({ representations: { gzipped } as never });
const responding = (response: Partial<HttpResponse>) =>
  serveRpc(() => ({ status: 200, headers: {}, body: Buffer.from('x'), ...response }));

const CODED = { ...fields, 'Accept-Encoding': 'gzip' };
const MESSAGE = post('{}', fields);
const LARGE = loadOf(manyTools());
const HEADLESS = () => Object.defineProperty(loadOf(), 'dropped', { get: throwing });

/** Stages of a request's way, and how each of them fails before the response has begun. */
const STAGES: Readonly<Record<string, readonly [() => Promise<Served>, request?: string]>> = {
  'authenticate, which rejects': [() => serve({ authenticate: rejecting })],
  'the list, whose coding fails': [() => serve({ compressMinBytes: 1, ...coding(rejecting) }), get(LIST, CODED)],
  'a read, which rejects': [() => serve({ read: rejecting })],
  'a read, which gives nothing': [() => serve({ read: () => undefined as never })],
  'a read, whose coding throws': [() => serve({ read: () => LARGE, ...coding(throwing) }), get(READ, CODED)],
  'a read, when its headers are made': [() => serve({ read: HEADLESS })],
  'JSON-RPC, which rejects': [() => serveRpc(rejecting), MESSAGE],
  'a probe': [() => serve({ isDraining: throwing }), get('/readyz', fields)],
  'sending, since a header has a line break': [() => responding({ headers: { 'X-A': `${TOKEN}\r\nX: c` } }), MESSAGE],
  'sending, since there is no such status': [() => responding({ status: 1000 }), MESSAGE],
  'sending, since the body is nothing that has a length': [() => responding({ body: null as never }), MESSAGE],
};

describe('a bug', () => {
  expectNoUncaught();

  for (const [stage, [start, request = get(READ, fields)]] of Object.entries(STAGES)) {
    it(`is a 500 without details, logged once without the credential: ${stage}`, async () => {
      const { url, bugs, ended } = await start();
      for (let count = 1; count <= 2; count += 1) {
        const response = await exchange(url, request);
        expect(response.status).to.equal(500);
        expect(response.headers.get('content-type')).to.equal('application/problem+json');
        expect(response.headers.get('connection')).to.equal('keep-alive');
        expect(response.json()).to.include({ code: 'internal', requestId: 'mine' });
        const record = (await ended(count))[count - 1];
        expect(record).to.include({ outcome: 'internal', status: 500, requestId: 'mine' });
        expect(record?.error).to.include({ code: 'internal' });
        expect(bugs).to.have.length(count);
        expect(bugs[count - 1]).to.include({ requestId: 'mine' });
        expect(bugs[count - 1]?.stack).to.match(/^(Type|Range|Assertion)Error.*\n {4}at /);
        for (const secret of SECRETS) expect(`${bugs[count - 1]?.stack}${response.body}`).not.to.contain(secret);
      }
    });
  }

  it('of a read whose caller has gone is not reported', async () => {
    const failing = Promise.withResolvers<Load>();
    const { url, reads, ended, bugs } = await serve({ read: () => failing.promise });
    const connection = sendTo(url, get(READ));
    while (reads.length === 0) await new Promise((resolve) => setImmediate(resolve));
    connection.socket.destroy();
    expect((await ended(1))[0]).to.include({ outcome: 'caller_gone' });
    failing.reject(bug());
    await new Promise((resolve) => setImmediate(resolve));
    expect(bugs).to.deep.equal([]);
    expect(await ended(1)).to.have.length(1);
  });
});

describe('a mistake in a request', () => {
  // Each row corrects the mistake of the row before it, and still has those of all later rows.
  const late = { Accept: 'text/html' };
  const foreign = { Origin: 'https://evil.example' };
  const anonymous = { ...late, Authorization: undefined };
  const steps: readonly [ErrorCode, string][] = [
    [
      'headers_too_large',
      requestText('POST', '/x?uri=', { ...anonymous, ...foreign, Host: 'evil.example', X: 'x'.repeat(17_000) }, 'x'),
    ],
    ['host_refused', requestText('POST', '/x?uri=', { ...anonymous, ...foreign, Host: 'evil.example' }, 'x')],
    ['origin_refused', requestText('POST', '/x?uri=', { ...anonymous, ...foreign }, 'x')],
    ['not_found', requestText('POST', '/x?uri=', anonymous, 'x')],
    ['method_not_allowed', requestText('POST', `${READS}?uri=`, anonymous, 'x')],
    ['invalid_request', requestText('GET', `${READS}?uri=`, anonymous, 'x')],
    ['credential_missing', get(`${READS}?uri=`, anonymous)],
    ['credential_malformed', get(`${READS}?uri=`, { ...late, Authorization: 'Basic YTpi' })],
    ['uri_missing', get(`${READS}?uri=`, late)],
    ['resource_unknown', get(`${READS}?uri=platform://users`, late)],
    ['not_acceptable', get(READ, late)],
    ['upstream_failed', get(READ)],
  ];
  for (const [index, [code, request]] of steps.entries()) {
    it(`is reported in order: ${index + 1}, ${code}`, async () => {
      const { url } = await serve({ read: () => Promise.reject(new GatewayError('upstream_failed')) });
      expect((await exchange(url, request)).json()).to.include({ code });
    });
  }
});

describe('the record of a request', () => {
  it('has the facts of its request, and no empty fields', async () => {
    const { url, ended } = await serve({ read: () => LARGE });
    const { body } = await exchange(url, get(READ, { 'Accept-Encoding': 'gzip' }));
    await exchange(url, get(READ, { 'If-None-Match': '*' }));
    await exchange(url, get(LIST));
    await exchange(url, get('/secret/path?secret=query'));
    await exchange(url, get(LIST, { Authorization: undefined }));
    const [read, known, list, unknown, missing] = await ended(5);
    const always = ['edge', 'requestId', 'startedAt', 'ms', 'method', 'route', 'status', 'outcome', 'bytes'];
    expect(read).to.have.all.keys(...always, 'resource', 'upstreamMs', 'cache', 'callerKey');
    expect(read).to.include({
      ...{ edge: 'http', method: 'GET', route: READS, resource: 'tools', status: 200, outcome: 'ok' },
      ...{ upstreamMs: 12.34, cache: 'bypass', bytes: body.length },
    });
    expect(known).to.include({ status: 304, outcome: 'not_modified', bytes: 0 });
    expect(list).to.have.all.keys(...always, 'callerKey');
    expect(list).to.include({ route: LIST, outcome: 'ok' });
    expect(unknown).to.have.all.keys(...always, 'error');
    expect(unknown).to.include({ route: 'unmatched', status: 404, outcome: 'not_found' });
    expect(missing).to.have.all.keys(...always, 'error');
    expect(missing).to.include({ route: LIST, status: 401, outcome: 'credential_missing' });
    expect(read?.['callerKey']).to.equal(list?.['callerKey']);
    expect(await ended(5)).to.have.length(5);
  });

  it('holds nothing that a caller sent, except ids', async () => {
    const { url, ended } = await serveRpc(() => ({ status: 200, headers: {}, body: Buffer.from('x') }));
    const secrets = {
      Cookie: 'secret-1',
      Authorization: 'Bearer secret-2',
      'X-Request-Id': 'secret-2',
      tracestate: 'secret-3',
      'User-Agent': 'secret-4',
      'If-None-Match': '"secret-5"',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    };
    for (const target of [READ, `${LIST}?secret-6`, '/secret-7', `${READS}?uri=secret-8`]) {
      await exchange(url, get(target, secrets));
      await exchange(url, get(target, { ...secrets, Authorization: 'Basic secret-9', 'X-Request-Id': 'secret-9' }));
    }
    await exchange(url, get(READ, { Host: 'secret-10.example' }));
    await exchange(url, get(READ, { Origin: 'https://secret-11.example' }));
    await exchange(url, post('secret-12', { 'Mcp-Method': 'secret-13' }, `${RPC}?secret-14`));
    const records = await ended(11);
    const text = JSON.stringify(records.map(({ error, ...rest }) => ({ ...rest, reason: error?.reason })));
    expect(text.toLowerCase()).not.to.contain('secret');
    expect(text).to.contain('4bf92f3577b34da6a3ce929d0e0e4736').and.not.to.contain('00f067aa0ba902b7');
  });
});
