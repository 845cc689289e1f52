import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { type ErrorCode, GatewayError } from '../../../src/kernel/errors.ts';
import { closeAll, createPatience, LIST, loadOf, manyItems, READ, serve } from '../served.ts';
import { until } from '../until.ts';
import { ask, get, openWire } from '../wire.ts';

const LARGE = loadOf(manyItems());

afterEach(closeAll);

describe('the list', () => {
  it('is the definitions in their order', async () => {
    const { url } = await serve();
    const { status, headers, json } = await ask(url, get(LIST));
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect((json as unknown as { uri: string }[]).map(({ uri }) => uri)).to.deep.equal([
      'platform://projects',
      'platform://workflows',
      'platform://tools',
    ]);
  });

  it('is the same whatever query comes with it', async () => {
    const { url } = await serve();
    expect((await ask(url, get(`${LIST}?uri=platform://nothing&uri=&x`))).body).to.deep.equal(
      (await ask(url, get(LIST))).body,
    );
  });
});

describe('a read', () => {
  it('answers with the bytes of the snapshot and what a cache has to know', async () => {
    const { url } = await serve({ read: () => LARGE });
    const { status, headers, body } = await ask(url, get(READ));
    expect(status).to.equal(200);
    expect(body).to.deep.equal(LARGE.snapshot.bytes);
    expect(Object.fromEntries(headers)).to.include({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(LARGE.snapshot.bytes.length),
      etag: LARGE.snapshot.etag,
      vary: 'Authorization, Accept-Encoding',
      'cache-control': 'private, no-cache',
    });
    expect(headers.has('content-encoding')).to.equal(false);
    expect(headers.has('portico-dropped-items')).to.equal(false);
  });

  it('asks the catalogue for the resource of the uri, as this caller', async () => {
    const { url, reads } = await serve();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await ask(
      url,
      get('/mcp/v1/resources/read?uri=platform://projects', { 'X-Request-Id': 'mine', traceparent, tracestate: 'v=1' }),
    );
    await ask(
      url,
      get('/mcp/v1/resources/read?a=b&uri=platform%3A%2F%2Fworkflows&c=d', { Authorization: 'bearer other' }),
    );
    const [first, second] = reads.map(({ name, caller }) => ({
      name,
      ...caller,
      credential: caller.credential.reveal(),
    }));
    expect(first).to.include({ name: 'projects', credential: 'token-of-the-test', requestId: 'mine' });
    expect(first?.trace?.tracestate).to.equal('v=1');
    expect(first?.trace?.traceparent)
      .to.match(/^00-4bf92f3577b34da6a3ce929d0e0e4736-.{16}-01$/)
      .and.not.equal(traceparent);
    expect(second).to.include({ name: 'workflows', credential: 'other' });
    expect(second).not.to.have.property('trace');
    expect(first?.partition).not.to.equal(second?.partition);
  });

  it('says how many items it left out', async () => {
    const { url } = await serve({ read: () => loadOf([], { dropped: 3 }) });
    expect((await ask(url, get(READ))).headers.get('portico-dropped-items')).to.equal('3');
    expect((await ask(url, get(READ, { 'If-None-Match': '*' }))).headers.get('portico-dropped-items')).to.equal('3');
  });

  for (const [coding, decode] of Object.entries({ zstd: zstdDecompressSync, gzip: gunzipSync })) {
    it(`is the same bytes in ${coding}, under the same tag`, async () => {
      const { url } = await serve({ read: () => LARGE });
      const { headers, body } = await ask(url, get(READ, { 'Accept-Encoding': coding }));
      expect(headers.get('content-encoding')).to.equal(coding);
      expect(headers.get('etag')).to.equal(LARGE.snapshot.etag);
      expect(Number(headers.get('content-length')))
        .to.equal(body.length)
        .and.be.below(LARGE.snapshot.bytes.length);
      expect(decode(body)).to.deep.equal(LARGE.snapshot.bytes);
    });
  }

  it('is plain below compressMinBytes', async () => {
    const { url } = await serve({ read: () => LARGE, compressMinBytes: LARGE.snapshot.bytes.length + 1 });
    expect((await ask(url, get(READ, { 'Accept-Encoding': 'zstd' }))).headers.has('content-encoding')).to.equal(false);
  });

  for (const fields of [{}, { 'Accept-Encoding': 'zstd' }, { Authorization: undefined }, { 'If-None-Match': '*' }]) {
    it(`has the same headers as HEAD, and no body then, with ${JSON.stringify(fields)}`, async () => {
      const { url, access } = await serve({ read: () => LARGE });
      const id = { 'X-Request-Id': 'same' };
      const whole = await ask(url, get(READ, { ...id, ...fields }));
      const wire = openWire(url, { head: true });
      wire.write(get(READ, { ...id, ...fields, Connection: 'close' }, 'HEAD'));
      const [head] = await wire.closed();
      const comparable = (headers: Headers) => {
        const { date, connection, 'keep-alive': keepAlive, ...rest } = Object.fromEntries(headers);
        return rest;
      };
      expect(head?.status).to.equal(whole.status);
      expect(comparable(head?.headers ?? new Headers())).to.deep.equal(comparable(whole.headers));
      expect(wire.socket.bytesRead).to.be.below(1000);
      expect((await access(2))[1]).to.include({ method: 'HEAD', bytes: 0 });
    });
  }

  for (const name of [LIST, READ]) {
    it(`is not sent again to who has it: ${name}`, async () => {
      const { url } = await serve({ read: () => LARGE });
      const etag = (await ask(url, get(name))).headers.get('etag') ?? '';
      const { status, headers, body } = await ask(
        url,
        get(name, { 'If-None-Match': `"x", ${etag}`, 'Cache-Control': 'no-cache' }),
      );
      expect({ status, length: body.length }).to.deep.equal({ status: 304, length: 0 });
      expect(Object.fromEntries(headers)).to.include({
        etag,
        vary: 'Authorization, Accept-Encoding',
        'cache-control': 'private, no-cache',
      });
      expect(headers.has('content-type')).to.equal(false);
      expect((await ask(url, get(name, { 'If-None-Match': 'W/"x"' }))).status).to.equal(200);
    });
  }

  it("is known again by Node's own fetch", async () => {
    const { url } = await serve({ read: () => LARGE });
    const authorization = 'Bearer token-of-the-test';
    const first = await fetch(url + READ, { headers: { authorization } });
    expect(first.headers.get('content-encoding')).to.be.oneOf(['gzip', 'zstd']);
    expect(Buffer.from(await first.arrayBuffer())).to.deep.equal(LARGE.snapshot.bytes);
    const second = await fetch(url + READ, {
      headers: { authorization, 'if-none-match': first.headers.get('etag') ?? '' },
    });
    expect(second.status).to.equal(304);
  });

  it('is aborted when its caller hangs up, and logged so', async () => {
    const { read } = createPatience();
    const { url, reads, access, lines } = await serve({ read });
    const wire = openWire(url);
    wire.write(get(READ));
    await until(() => reads.length === 1);
    wire.socket.resetAndDestroy();
    const [line] = await access(1);
    expect(reads[0]?.signal.aborted).to.equal(true);
    await sleep(20);
    expect(lines()).to.have.length(1);
    expect(line).to.include({ outcome: 'caller_gone', resource: 'tools', bytes: 0 }).and.not.have.property('status');
    expect(line?.['upstreamMs']).to.be.at.least(0);
  });
});

describe('what is wrong with a request', () => {
  const READS = '/mcp/v1/resources/read';
  // Each row mends what the one before it was refused for, and has everything that comes later still wrong.
  const late = { Accept: 'text/html' };
  const steps: readonly [ErrorCode, string][] = [
    [
      'host_refused',
      `${get(
        '/x?uri=',
        {
          ...late,
          Host: 'evil.example',
          Origin: 'https://evil.example',
          Authorization: undefined,
          'Content-Length': '1',
        },
        'POST',
      )}x`,
    ],
    [
      'origin_refused',
      `${get(
        '/x?uri=',
        { ...late, Origin: 'https://evil.example', Authorization: undefined, 'Content-Length': '1' },
        'POST',
      )}x`,
    ],
    ['not_found', `${get('/x?uri=', { ...late, Authorization: undefined, 'Content-Length': '1' }, 'POST')}x`],
    [
      'method_not_allowed',
      `${get(`${READS}?uri=`, { ...late, Authorization: undefined, 'Content-Length': '1' }, 'POST')}x`,
    ],
    ['invalid_request', `${get(`${READS}?uri=`, { ...late, Authorization: undefined, 'Content-Length': '1' })}x`],
    ['credential_missing', get(`${READS}?uri=`, { ...late, Authorization: undefined })],
    ['credential_malformed', get(`${READS}?uri=`, { ...late, Authorization: 'Basic YTpi' })],
    ['uri_missing', get(`${READS}?uri=`, late)],
    ['resource_unknown', get(`${READS}?uri=platform://users`, late)],
    ['not_acceptable', get(READ, late)],
    ['upstream_failed', get(READ)],
  ];
  for (const [index, [code, request]] of steps.entries()) {
    it(`is reported in order: ${index + 1}, ${code}`, async () => {
      const { url } = await serve({
        read: () => {
          throw new GatewayError('upstream_failed');
        },
      });
      expect((await ask(url, request)).json['code']).to.equal(code);
    });
  }

  for (const [query, code] of [
    ['', 'uri_missing'],
    ['?', 'uri_missing'],
    ['?uri', 'uri_missing'],
    ['?URI=platform://tools', 'uri_missing'],
    ['?uri=&uri=', 'uri_repeated'],
    ['?uri=platform://tools&x=1&uri=platform://tools', 'uri_repeated'],
    ['?uri=platform://Tools', 'resource_unknown'],
    ['?uri=tools', 'resource_unknown'],
    ['?uri=platform://tools/', 'resource_unknown'],
    ['?uri=platform://tools%00', 'resource_unknown'],
    ['?uri=%zz', 'resource_unknown'],
  ] as const) {
    it(`is ${code} for the query ${JSON.stringify(query)}`, async () => {
      const { url, reads } = await serve();
      expect((await ask(url, get(READS + query))).json['code']).to.equal(code);
      expect(reads).to.deep.equal([]);
    });
  }

  it('is told with the uris that there are', async () => {
    const { url } = await serve();
    const { json } = await ask(url, get(`${READS}?uri=platform://users`));
    expect(json['detail']).to.equal(
      'No resource has this uri. There are: platform://projects, platform://workflows, platform://tools.',
    );
  });

  it('is two Authorization fields, even if only one is in a form that counts', async () => {
    const { url, reads } = await serve();
    const request = get(READ).replace('\r\n\r\n', '\r\nauthorization: Bearer other\r\n\r\n');
    expect((await ask(url, request)).json).to.include({ code: 'invalid_request', status: 400 });
    expect(reads).to.deep.equal([]);
  });

  it('is a credential that is not there, for the list as well', async () => {
    const { url } = await serve();
    expect((await ask(url, get(LIST, { Authorization: undefined }))).json['code']).to.equal('credential_missing');
  });

  it('is a body on GET, announced in either way, after which the connection closes', async () => {
    const { url, access } = await serve();
    for (const [fields, body] of [
      [{ 'Content-Length': '2' }, '{}'],
      [{ 'Transfer-Encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n'],
    ] as const) {
      const wire = openWire(url);
      wire.write(get(LIST, fields) + body + get(LIST));
      const answers = await wire.closed();
      expect(answers.map(({ status }) => status)).to.deep.equal([400]);
      expect(answers[0]?.headers.get('connection')).to.equal('close');
    }
    expect((await ask(url, get(LIST, { 'Content-Length': '0' }))).status).to.equal(200);
    expect((await access(3)).map(({ outcome }) => outcome)).to.deep.equal(['invalid_request', 'invalid_request', 'ok']);
  });
});
