import { expect } from 'chai';
import fc from 'fast-check';
import type { RpcHandler } from '../../../src/core/http/operations/rpc.ts';
import { newRequestId } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { TOKEN } from '../../support/authorization/caller.ts';
import { heldUntil, loadOf, manyTools } from '../../support/platform/loads.ts';
import { exchange, get, requestText, sendTo } from '../../support/raw-http.ts';
import { SEED, SEEDED } from '../../support/seed.ts';
import { type Ended, expectNoUncaught, LIST, READ, READS, RPC, type Served, serve, serveRpc } from './served.ts';

const OTHER_PATHS = [
  ...['/', '/mcp/v1/resources/', '/MCP/v1/resources', '/mcp/v1/Resources', '//mcp/v1/resources', '/mcp//v1/resources'],
  ...['/mcp/v1/./resources', '/mcp/v1/x/../resources', '/mcp/v1/resource%73', '/mcp/v1/resources%2Fread'],
  ...['/mcp/v1/resources;x', '/mcp/v1/resources/read/x', '/livez/', '/Livez', '/admin', '/mcp'],
];

describe('a path', () => {
  it('is 404 in another spelling, with the paths that there are', async () => {
    const { url, ended } = await serve();
    const detail =
      'There is no such path. Lists are at /mcp/v1/resources and /mcp/v1/resources/read, and MCP, where it is on, at /mcp.';
    for (const path of OTHER_PATHS) {
      expect((await exchange(url, get(path))).json(), path).to.include({ status: 404, code: 'not_found', detail });
    }
    expect((await exchange(url, requestText('OPTIONS', '*'))).status).to.equal(404);
    for (const record of await ended(OTHER_PATHS.length + 1)) {
      expect(record).to.include({ route: 'unmatched', status: 404, outcome: 'not_found' });
    }
  });

  it('is 405 with another method, with the methods that it has', async () => {
    const { url, ended } = await serve();
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
    for (const method of methods) {
      const response = await exchange(url, requestText(method, LIST));
      expect(response.json(), method).to.include({ status: 405, code: 'method_not_allowed' });
      expect(response.headers.get('allow')).to.equal('GET, HEAD');
    }
    const records = (await ended(methods.length)).map(({ method, route, outcome }) => [method, route, outcome]);
    expect(records).to.deep.equal(methods.map((method) => [method, LIST, 'method_not_allowed']));
  });
});

describe('a target in absolute form', () => {
  it('is checked by its own host, not by the Host header', async () => {
    const { url } = await serve();
    expect((await exchange(url, get(`http://evil.example${LIST}`))).status).to.equal(421);
    expect((await exchange(url, get(`http://LOCALHOST${LIST}`, { Host: 'evil.example' }))).status).to.equal(200);
    expect((await exchange(url, get(`http://localhost${LIST}`, { Host: undefined }))).status).to.equal(400);
  });

  it('that is not a URL is 400, and not logged', async () => {
    const { url, ended, bugs } = await serve();
    for (const target of ['http://a:SECRET', 'http://a:SECRET/x', 'http://SECRET@a/', `http://[SECRET]${LIST}`]) {
      const { status, headers, body } = await exchange(url, get(target));
      expect(status, target).to.equal(400);
      expect(JSON.stringify([...headers]) + body).not.to.match(/secret/i);
    }
    expect(JSON.stringify(await ended(4))).not.to.match(/secret/i);
    expect(bugs).to.deep.equal([]);
  });
});

describe('a connection that closes during a request through Koa', () => {
  expectNoUncaught();

  it('is not printed', async () => {
    const { url, reads, ended } = await serve({ read: () => new Promise(() => {}) });
    const printed: unknown[] = [];
    const { error } = console;
    console.error = (...texts: unknown[]) => printed.push(texts);
    try {
      const connection = sendTo(url, get(`${READ}&x`));
      while (reads.length === 0) await new Promise((resolve) => setImmediate(resolve));
      connection.socket.resetAndDestroy();
      await ended(1);
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      console.error = error;
    }
    expect(printed).to.deep.equal([]);
  });
});

const NOW = 1_800_000_000_000;
const LARGE = loadOf(manyTools(), { loadedAt: NOW - 5000 });

const READINGS: Readonly<Record<string, () => Load | Promise<Load>>> = {
  'what is fresh': () => ({ ...LARGE, ...heldUntil(NOW + 55_000) }),
  'what was loaded just now, and lacks items': async () => loadOf(manyTools(3), { dropped: 3 }),
  'an error': () =>
    Promise.reject(new GatewayError('upstream_rate_limited', { upstream: 'tools', retryAfterSeconds: 7 })),
  'a rejected credential': () => Promise.reject(new GatewayError('credential_rejected', { upstream: 'tools' })),
  'a bug': () => {
    throw new TypeError(`a bug that mentions ${TOKEN}`);
  },
};

/** Targets of the table, and others that ask for the same thing. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  [READ]: [`${READ}&x=1`, ...['x&uri=platform://', 'uri=platform%3a//'].map((begin) => `${READS}?${begin}tools`)],
  [`${READS}?uri=platform%3A%2F%2Ftools`]: [`${READS}?uri=platform%3A%2F%2Ftools&`],
  [READS]: [`${READS}?`, `${READS}?x=1`, `${READS}?uri=`],
  [LIST]: [`${LIST}?`, `${LIST}?uri=x`],
  [RPC]: [`${RPC}?`, `${RPC}?a=b`],
  '/openapi.json': ['/openapi.json?', '/openapi.json?x'],
  '/': ['/?', '/?x=1'],
  '/livez': ['/livez?', '/livez?x'],
  '/readyz': ['/readyz?x'],
};

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  Host: ['localhost', 'LOCALHOST', '127.0.0.1', 'elsewhere.example', 'a b', ''],
  Authorization: [`Bearer ${TOKEN}`, 'bearer  other', 'Basic abc', 'Bearer', ''],
  Accept: [
    ...['*/*', 'application/json', 'application/json, text/event-stream', 'text/html', 'text/html, */*;q=0.8'],
    ...['application/*;q=0.5', ''],
  ],
  'Accept-Encoding': ['gzip', 'zstd, gzip', 'gzip, deflate, br', 'identity;q=0', '*;q=0', 'gzip;q=0, identity', ''],
  'If-None-Match': [LARGE.snapshot.etag, `"x", ${LARGE.snapshot.etag}`, '"other"', '*', 'nonsense', ''],
  'Cache-Control': ['no-cache', 'max-age=0', ''],
  Connection: ['close', 'keep-alive'],
  Origin: ['https://page.example', ''],
  'X-Request-Id': ['mine-1', 'not well formed', TOKEN, ''],
  traceparent: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'nonsense', ''],
  tracestate: ['vendor=1', ''],
  'Content-Type': ['application/json', 'application/json; charset=utf-8', 'text/plain', 'application/json, text/plain'],
  'Content-Encoding': ['identity', 'gzip'],
  'Content-Length': ['0', '3'],
  'Transfer-Encoding': ['chunked'],
  Expect: ['100-continue', 'miracles'],
  'MCP-Protocol-Version': ['2025-11-25'],
  'X-Filler': ['x'.repeat(17_000)],
};

const header = fc
  .constantFrom(...Object.keys(HEADERS))
  .chain((name) => fc.tuple(fc.constantFrom(name, name.toLowerCase()), fc.constantFrom(...(HEADERS[name] ?? []))))
  .map(([name, value]) => `${name}: ${value}`);
const HOST = 'Host: localhost';
const lines = fc
  .tuple(
    fc.constantFrom([HOST, `Authorization: Bearer ${TOKEN}`], [`authorization: Bearer ${TOKEN}`, HOST], [HOST], []),
    fc.array(header, { maxLength: 4 }),
  )
  .map((parts) => parts.flat());
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'POST', 'PUT', 'OPTIONS'),
  target: fc.constantFrom(...Object.keys(SPELLINGS), READ, READ, READ),
  spelling: fc.nat(),
  version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
  lines,
  reading: fc.constantFrom(...Object.keys(READINGS)),
});

function bodyFor(all: readonly string[]): string {
  if (all.some((line) => /^transfer-encoding/i.test(line))) return '3\r\nabc\r\n0\r\n\r\n';
  return all.some((line) => /^content-length: 3/i.test(line)) ? 'abc' : '';
}

/** A response and its events, without what differs each time. */
async function observe({ url, ended, bugs }: Served, text: string): Promise<unknown> {
  const before = { ended: (await ended(0)).length, bugs: bugs.length };
  const { status, headers, body } = await exchange(url, text);
  const [record] = (await ended(before.ended + 1)).slice(before.ended) as [Ended];
  const { date, 'x-request-id': id = '', ...others } = Object.fromEntries(headers);
  const { requestId, begun: _begun, ms: _ms, upstreamMs, callerKey, error, ...rest } = record;
  return {
    status,
    headers: others,
    body: body.toString('latin1').replaceAll(id, 'the id'),
    id: /^[0-9a-f]{16}-/.test(id) ? 'a new one' : id,
    record: { ...rest, error: error?.code, upstreamMs: typeof upstreamMs, sameId: requestId === id, callerKey },
    bugs: bugs.slice(before.bugs).map(({ stack }) => stack.split('\n', 1)[0]),
  };
}

describe('the table of targets ahead of Koa', () => {
  expectNoUncaught();

  it(`selects the same operation as Koa ${SEEDED}`, async () => {
    let reading = '';
    // From here on, all ids have four digits behind their dash: one more would change Content-Length.
    while (!/-\w{4}$/.test(newRequestId()));
    const answer: RpcHandler = ({ body, headers, noCache, record }) => {
      if (reading === 'a bug') throw new TypeError('a bug');
      if (reading === 'an error') throw new GatewayError('credential_rejected', { upstream: 'tools' });
      record.rpc = 'ping';
      const text = JSON.stringify({ ...headers, noCache, body: body.toString() });
      return { status: 202, headers: { 'Content-Type': 'application/json' }, body: [Buffer.from(text), body] };
    };
    const served = await serveRpc(answer, { read: () => READINGS[reading]?.() ?? loadOf(), now: () => NOW });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, target, spelling, version, lines: all, ...chosen }) => {
        ({ reading } = chosen);
        const others = [...(SPELLINGS[target] ?? [])];
        // A target in absolute form replaces the host, which must be the same.
        if (all.filter((line) => /^host:/i.test(line)).join() === HOST) others.push(`http://localhost${target}`);
        const text = (spelled: string) =>
          `${method} ${spelled} HTTP/${version}\r\n${all.map((line) => `${line}\r\n`).join('')}\r\n${bodyFor(all)}`;
        const throughKoa = others[spelling % others.length] ?? '';
        expect(await observe(served, text(throughKoa))).to.deep.equal(await observe(served, text(target)));
      }),
      { numRuns: 600, seed: SEED },
    );
  }).timeout(120_000);
});
