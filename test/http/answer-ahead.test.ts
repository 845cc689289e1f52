import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../src/kernel/errors.ts';
import type { Load } from '../../src/snapshots/load.ts';
import { exchange } from './exchanged.ts';
import { closeAll, loadOf, manyItems, READ, type ServeOptions, serve } from './served.ts';

const NOW = 1_800_000_000_000;
const plain = loadOf(manyItems());
const held = (rest: Partial<Load> = {}): Load => ({
  ...plain,
  snapshot: { ...plain.snapshot, loadedAt: NOW - 5000 },
  cached: { key: 'key', freshUntil: NOW + 55_000, stored: false },
  ...rest,
});

/** What the catalogue may have to say to a read. */
const READINGS: Readonly<Record<string, ServeOptions>> = {
  'what is fresh': { read: () => held(), fresh: () => held() },
  'what is fresh, and compressed already': {
    read: () => held({ snapshot: { ...held().snapshot, forms: { gzip: Buffer.from('g'), zstd: Buffer.from('z') } } }),
    fresh: () => held({ snapshot: { ...held().snapshot, forms: { gzip: Buffer.from('g'), zstd: Buffer.from('z') } } }),
  },
  'what is fresh, and lacks items': { read: () => held({ dropped: 3 }), fresh: () => held({ dropped: 3 }) },
  'what was loaded just now': { read: () => loadOf(manyItems(), { upstreamMs: 1 }) },
  'what is small': { read: () => loadOf([{ id: 'a' }]) },
  'a failure': {
    read: () => {
      throw new GatewayError('upstream_rate_limited', { upstream: 'tools', retryAfterSeconds: 7 });
    },
  },
  'a denial': {
    read: () => {
      throw new GatewayError('credential_rejected', { upstream: 'tools' });
    },
  },
  'a bug': {
    read: () => {
      throw new TypeError('a bug that mentions the token-of-the-test');
    },
  },
};

const TARGETS = [
  READ,
  '/mcp/v1/resources/read?uri=platform%3A%2F%2Ftools',
  '/mcp/v1/resources/read?uri=platform://projects',
  '/mcp/v1/resources/read?uri=platform://tools&more=1',
  '/mcp/v1/resources/read?uri=platform://nothing',
  '/mcp/v1/resources/read',
  '/mcp/v1/resources',
  'http://localhost/mcp/v1/resources/read?uri=platform://tools',
];

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  Host: ['localhost', 'LOCALHOST', '127.0.0.1', 'elsewhere.example', 'a b'],
  Authorization: ['Bearer token-of-the-test', 'bearer  other', 'Basic abc', 'Bearer', ''],
  Accept: ['*/*', 'application/json', 'text/html', 'application/*;q=0.5', ''],
  'Accept-Encoding': ['gzip', 'zstd, gzip', 'gzip, deflate, br', 'identity;q=0', '*;q=0', 'gzip;q=0, identity', ''],
  'If-None-Match': [plain.snapshot.etag, `"x", ${plain.snapshot.etag}`, '"other"', '*', 'nonsense', ''],
  'Cache-Control': ['no-cache', 'max-age=0', ''],
  Connection: ['close', 'keep-alive'],
  Origin: ['https://page.example', ''],
  'X-Request-Id': ['mine-1', 'not well formed', 'token-of-the-test', ''],
  traceparent: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'nonsense', ''],
  tracestate: ['vendor=1', ''],
  'User-Agent': ['test'],
  'Content-Length': ['0', '3'],
  Expect: ['100-continue'],
  'X-Filler': ['x'.repeat(17_000)],
};

const header = fc
  .constantFrom(...Object.keys(HEADERS))
  .chain((name) => fc.tuple(fc.constantFrom(name, name.toLowerCase()), fc.constantFrom(...(HEADERS[name] ?? []))));
const always = fc.constantFrom(
  ['Host: localhost', 'Authorization: Bearer token-of-the-test'],
  ['authorization: Bearer token-of-the-test', 'host: localhost'],
  ['Host: localhost'],
  [],
);
const request = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'GET', 'HEAD', 'POST'),
    target: fc.oneof({ weight: 3, arbitrary: fc.constant(READ) }, fc.constantFrom(...TARGETS)),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    first: fc.oneof({ weight: 5, arbitrary: fc.constant(['Host: localhost', 'Authorization: Bearer t']) }, always),
    headers: fc.array(header, { maxLength: 4 }),
  })
  .map(({ method, target, version, first, headers }) => {
    const lines = [...first, ...headers.map(([name, value]) => `${name}: ${value}`)];
    // A body is awaited before it is refused.
    const body = lines.some((line) => /^content-length: 3/i.test(line)) ? 'abc' : '';
    return `${method} ${target} HTTP/${version}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  });

/** Each header once, alone beside what a plain request has, so that none is met by chance only. */
const ONE_BY_ONE = Object.entries(HEADERS).flatMap(([name, values]) =>
  values.map((value) => {
    const headers = { Host: 'localhost', Authorization: 'Bearer t', [name]: value };
    const lines = Object.entries(headers).map(([each, text]) => `${each}: ${text}\r\n`);
    return `GET ${READ} HTTP/1.1\r\n${lines.join('')}\r\n${name === 'Content-Length' && value === '3' ? 'abc' : ''}`;
  }),
);

describe('a read that is answered ahead of the layers', () => {
  afterEach(closeAll);

  for (const [name, reading] of Object.entries(READINGS)) {
    const seed = randomInt(2 ** 31);
    it(`is answered as they answer it: ${name} (seed ${seed})`, async function () {
      this.timeout(60_000);
      const common = { ...reading, now: () => NOW };
      const ahead = await serve({ ...common, answerAhead: true });
      const layers = await serve({ ...common, answerAhead: false });
      const compare = async (text: string) => {
        expect(await exchange(ahead, text)).to.deep.equal(await exchange(layers, text));
      };
      for (const text of ONE_BY_ONE) await compare(text);
      await fc.assert(fc.asyncProperty(request, compare), { numRuns: 200, seed });
    });
  }
});
