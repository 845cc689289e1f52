import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { GatewayError } from '../../src/kernel/errors.ts';
import { exchange } from './exchanged.ts';
import { closeAll, serve } from './served.ts';
import { get, openWire } from './wire.ts';

const PATH = '/echo';

/** Answers as the body says. */
const ENDPOINT: Endpoint = {
  path: PATH,
  maxBodyBytes: 64,
  async answer({ body, caller, noCache, note, logBug, headers, signal }) {
    const text = body.toString();
    note({ rpc: 'ping' });
    if (text === 'denied') throw new GatewayError('credential_rejected', { upstream: 'tools' });
    if (text === 'a bug') throw new TypeError('a bug that mentions the token-of-the-test');
    if (text === 'failed') note({ failure: new GatewayError('upstream_failed', { upstream: 'tools' }) });
    if (text === 'logged') logBug(new TypeError('a bug'));
    if (text === 'later') await new Promise((resolve) => setImmediate(resolve));
    const said = JSON.stringify({ text, noCache, aborted: signal.aborted, type: headers['content-type'] });
    const pieces = [Buffer.from(said), Buffer.from(caller.partition === '' ? 'nobody' : 'somebody')];
    const answer = { status: text === 'accepted' ? 202 : 200, headers: { 'Content-Type': 'application/json' } };
    if (text === 'accepted') return { ...answer, body: Buffer.alloc(0) };
    return { ...answer, body: text === 'pieces' ? pieces : Buffer.concat(pieces) };
  },
};

const BODIES = ['', 'denied', 'a bug', 'failed', 'logged', 'later', 'accepted', 'pieces', 'text', 'x'.repeat(65)];

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  Host: ['localhost', 'elsewhere.example'],
  Authorization: ['Bearer other', 'Basic abc', ''],
  Accept: ['*/*', 'application/json, text/event-stream', 'text/event-stream', 'text/html'],
  'Content-Type': ['application/json', 'application/json; charset=utf-8', 'text/plain', 'application/json, text/plain'],
  'Content-Encoding': ['identity', 'gzip'],
  'Content-Length': ['3', '0'],
  'Transfer-Encoding': ['chunked'],
  'Cache-Control': ['no-cache', 'max-age=0'],
  Connection: ['close', 'keep-alive'],
  Origin: ['https://page.example'],
  Expect: ['100-continue'],
  'X-Request-Id': ['mine-1', 'token-of-the-test', 'not well formed'],
  traceparent: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'nonsense'],
  'If-None-Match': ['*'],
  'MCP-Protocol-Version': ['2025-11-25'],
  'X-Filler': ['x'.repeat(17_000)],
};

const header = fc
  .constantFrom(...Object.keys(HEADERS))
  .chain((name) => fc.tuple(fc.constantFrom(name, name.toLowerCase()), fc.constantFrom(...(HEADERS[name] ?? []))));
const request = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'POST', 'PUT', 'GET'),
    target: fc.constantFrom(PATH, PATH, PATH, PATH, `${PATH}?a=b`, `${PATH}/`, `http://localhost${PATH}`),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.1', '1.0'),
    type: fc.constantFrom(['Content-Type: application/json'], ['content-type: application/json'], []),
    body: fc.constantFrom(...BODIES),
    headers: fc.array(header, { maxLength: 3 }),
  })
  .map(({ method, target, version, type, body, headers }) => {
    const lines = ['Host: localhost', 'Authorization: Bearer token-of-the-test', ...type];
    const all = [...lines, `Content-Length: ${body.length}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
    return `${method} ${target} HTTP/${version}\r\n${all.join('\r\n')}\r\n\r\n${body}`;
  });

describe('a post that is answered ahead of the layers', () => {
  afterEach(closeAll);

  const seed = randomInt(2 ** 31);
  it(`is answered as they answer it (seed ${seed})`, async function () {
    this.timeout(120_000);
    const ahead = await serve({ answerAhead: true, endpoints: [ENDPOINT] });
    const layers = await serve({ answerAhead: false, endpoints: [ENDPOINT] });
    await fc.assert(
      fc.asyncProperty(request, async (text) => {
        expect(await exchange(ahead, text)).to.deep.equal(await exchange(layers, text));
      }),
      { numRuns: 500, seed },
    );
  });

  it('keeps its turn where several come at once', async () => {
    const { url } = await serve({ answerAhead: true, endpoints: [ENDPOINT] });
    const wire = openWire(url);
    const bodies = ['later', 'pieces', 'text', 'accepted', 'pieces'];
    const post = (body: string) =>
      get(PATH, { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }, 'POST') + body;
    wire.write(bodies.map(post).join(''));
    const answers = await wire.receive(bodies.length);
    const said = answers.map(({ body }) => /"text":"(\w+)"/.exec(body.toString())?.[1]);
    expect(said).to.deep.equal(['later', 'pieces', 'text', undefined, 'pieces']);
    wire.socket.destroy();
  });

  it('is not begun for a body that never comes whole, and ends with its caller', async () => {
    const { url, access } = await serve({ answerAhead: true, endpoints: [ENDPOINT] });
    const wire = openWire(url);
    wire.write(`${get(PATH, { 'Content-Type': 'application/json', 'Content-Length': '10' }, 'POST')}abc`);
    setTimeout(() => wire.socket.destroy(), 50);
    const [line] = await access(1);
    expect(line).to.deep.include({ route: PATH, outcome: 'caller_gone' });
    expect(line).not.to.have.property('rpc');
  });

  it('is refused where its body comes too slowly', async () => {
    const limits = { headersTimeoutMs: 1000, requestTimeoutMs: 1000 };
    const { url } = await serve({ answerAhead: true, endpoints: [ENDPOINT], ...limits });
    const wire = openWire(url);
    wire.write(`${get(PATH, { 'Content-Type': 'application/json', 'Content-Length': '10' }, 'POST')}abc`);
    const [answer] = await wire.closed();
    expect(answer?.status).to.equal(408);
    expect(answer?.headers.get('connection')).to.equal('close');
  }).timeout(60_000);
});
