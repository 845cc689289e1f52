import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { headersOfLoad } from '../../../../src/core/http/operations/reads.ts';
import { namesTag } from '../../../../src/core/http/request/negotiate.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { Cached, Load } from '../../../../src/core/reads/snapshots/load.ts';
import { cacheOutcome } from '../../../../src/core/reads/snapshots/with-cache.ts';
import { loadOf, manyTools, snapshotOf } from '../../../support/platform/loads.ts';
import { exchange, get, requestText, sendTo } from '../../../support/raw-http.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';
import { LIST, READ, serve } from '../served.ts';

const LARGE = loadOf(manyTools());
const { etag, bytes } = LARGE.snapshot;

describe('a snapshot that is sent', () => {
  it('is the same bytes in gzip, under the same tag', async () => {
    const { url } = await serve({ read: () => LARGE });
    const { headers, body } = await exchange(url, get(READ, { 'Accept-Encoding': 'gzip' }));
    expect(headers.get('content-encoding')).to.equal('gzip');
    expect(headers.get('etag')).to.equal(etag);
    expect(Number(headers.get('content-length')))
      .to.equal(body.length)
      .and.be.below(bytes.length);
    expect(gunzipSync(body)).to.deep.equal(bytes);
  });

  it('is uncompressed below compressMinBytes', async () => {
    const fields = { 'Accept-Encoding': 'gzip' };
    const larger = await serve({ read: () => LARGE, compressMinBytes: bytes.length + 1 });
    expect((await exchange(larger.url, get(READ, fields))).headers.has('content-encoding')).to.equal(false);
    const equal = await serve({ read: () => LARGE, compressMinBytes: bytes.length });
    expect((await exchange(equal.url, get(READ, fields))).headers.get('content-encoding')).to.equal('gzip');
  });

  for (const fields of [{}, { 'Accept-Encoding': 'gzip' }, { Authorization: undefined }, { 'If-None-Match': '*' }]) {
    it(`has the same headers as HEAD, and no body then, with ${JSON.stringify(fields)}`, async () => {
      const { url, ended } = await serve({ read: () => LARGE });
      const id = { 'X-Request-Id': 'same' };
      const whole = await exchange(url, get(READ, { ...id, ...fields }));
      const connection = sendTo(url, requestText('HEAD', READ, { ...id, ...fields, Connection: 'close' }), {
        head: true,
      });
      const { responses, rest } = await connection.closed();
      const comparable = (headers: Headers) => {
        const { date, connection: how, 'keep-alive': keepAlive, ...others } = Object.fromEntries(headers);
        return others;
      };
      expect(responses.map(({ status }) => status)).to.deep.equal([whole.status]);
      expect(comparable(responses[0]?.headers ?? new Headers())).to.deep.equal(comparable(whole.headers));
      expect(rest).to.have.length(0);
      expect((await ended(2))[1]).to.include({ method: 'HEAD', bytes: 0 });
    });
  }

  for (const target of [LIST, READ]) {
    it(`is 304 for a client that has it, and is not compressed for that: ${target}`, async () => {
      const representations = { gzipped: () => expect.fail('it is made') } as never;
      const { url } = await serve({ read: () => LARGE, representations, compressMinBytes: 1 });
      const tag = (await exchange(url, get(target))).headers.get('etag') ?? '';
      const fields = { 'If-None-Match': `"x", ${tag}`, 'Cache-Control': 'no-cache', 'Accept-Encoding': 'gzip' };
      const { status, headers, body } = await exchange(url, get(target, fields));
      expect({ status, length: body.length }).to.deep.equal({ status: 304, length: 0 });
      expect(Object.fromEntries(headers)).to.include({
        etag: tag,
        vary: 'Authorization, Accept, Accept-Encoding',
        'cache-control': 'private, no-cache',
      });
      for (const name of ['content-type', 'content-length', 'content-encoding']) {
        expect(headers.has(name)).to.equal(false);
      }
      expect((await exchange(url, get(target, { 'If-None-Match': 'W/"x"' }))).status).to.equal(200);
    });
  }
});

describe('a snapshot that cannot be compressed now', () => {
  const busy = { read: () => LARGE, representations: { gzipped: () => undefined } as never };

  it('is sent uncompressed', async () => {
    const { url } = await serve(busy);
    const { status, headers, body } = await exchange(url, get(READ, { 'Accept-Encoding': 'zstd, gzip' }));
    expect([status, headers.has('content-encoding'), headers.get('etag')]).to.deep.equal([200, false, etag]);
    expect(body).to.deep.equal(bytes);
  });
});

const ETAG = 'W/"abc"';

describe('If-None-Match', () => {
  it('names the tag as any, or in a list', () => {
    for (const value of [
      ...['*', ' * ', 'W/"abc"', '"abc"', '"x", W/"abc"', 'W/"abc","x"', '"a,b" , "abc"', ',,"abc",', '"", "abc"'],
    ])
      expect(namesTag(value, ETAG), value).to.equal(true);
    for (const value of [
      ...['', '"ABC"', 'W/"ab"', 'abc', 'w/"abc"', '"abc" "abc"', '"abc', '"x", abc', '"x" "abc"', 'W/ "abc"'],
    ])
      expect(namesTag(value, ETAG), value).to.equal(false);
  });

  it(`accepts exactly the members of a well-formed list ${SEEDED}`, () => {
    const opaque = fc.string({ unit: fc.constantFrom(...'abc,!# '.replace(' ', '~')), maxLength: 4 });
    const tag = fc.tuple(fc.boolean(), opaque).map(([weak, text]) => `${weak ? 'W/' : ''}"${text}"`);
    fc.assert(
      fc.property(
        fc.array(tag, { maxLength: 6 }),
        opaque.filter((text) => !text.includes(',')),
        fc.constantFrom(',', ', ', ' ,\t', ',,'),
        (tags, text, comma) => {
          const named = tags.some((member) => member.replace(/^W\//, '') === `"${text}"`);
          return namesTag(tags.join(comma), `W/"${text}"`) === named;
        },
      ),
      { seed: SEED },
    );
  });

  it('is read in linear time, however odd it is', () => {
    // Quadratic time would exceed the timeout of the test.
    for (const part of [' ', '\t', ',', '"', 'W/', '"a"', ', ', '"a" ']) {
      expect(namesTag(`${part.repeat(300_000)}x`, ETAG)).to.equal(false);
    }
  });
});

const LOADED_AT = 1_000_000;
const HELD: Cached = { key: 'key', freshUntil: LOADED_AT + 60_000, stored: false };
const snapshot = snapshotOf([], LOADED_AT);
const error = new GatewayError('upstream_failed', { upstreamStatus: 503 });

/** The headers of a load so many seconds after it began, and its outcome in the log. */
function headersAfter(load: Partial<Load>, afterSeconds: number) {
  const whole = loadOf([], { snapshot, ...load });
  const now = LOADED_AT + afterSeconds * 1000;
  const { 'Cache-Control': control, Age: age, 'Cache-Status': status } = headersOfLoad(whole, now);
  return [control, age, status, cacheOutcome(whole, now)];
}

type Forwarded = NonNullable<Cached['forwarded']>;
const held = (more: Partial<Cached> = {}): Partial<Load> => ({ cached: { ...HELD, ...more } });
const stored = (forwarded: Forwarded, more: Partial<Cached> = {}) => held({ forwarded, stored: true, ...more });
const failing = (reason: GatewayError) => held({ forwarded: 'stale', error: reason });
const OPEN = new GatewayError('breaker_open');
/** Its load took 5 s: `max-age` less `Age` is what is left of its freshness. */
const SLOW: Partial<Load> = { ...held(), snapshot: { ...snapshot, receivedAt: LOADED_AT + 5000 } };
const EXPIRING = held({ freshUntil: LOADED_AT + 7500 });
const EXPIRED = held({ freshUntil: 0, forwarded: 'miss' });
const COLLAPSED = { ...stored('miss'), collapsed: true };
const RENEWED = { ...stored('stale'), notModified: true };
const COPIED = { ...held(), fromSharedCache: true };
const FAILED = 'fwd=stale; fwd-status=503; ttl=-540; detail=upstream-failed';

/** What a list is, its load, the seconds since then, its lifetime (`-`: not stored) and age, its Cache-Status and outcome. */
const CASES: readonly (readonly [what: string, Partial<Load>, number, string, string, string])[] = [
  ['a list that is not stored', {}, 1, '-', 'fwd=bypass', 'bypass'],
  ['one from the load of another read', { collapsed: true }, 1, '-', 'fwd=bypass; collapsed', 'collapsed'],
  ['a miss', stored('miss'), 2.9, '60', 'fwd=miss; stored', 'miss'],
  ['a miss that could not be stored', held({ forwarded: 'miss' }), 0, '60', 'fwd=miss', 'miss'],
  ['a miss, loaded for another read', COLLAPSED, 2.9, '60, age 2', 'fwd=miss; stored; collapsed', 'collapsed'],
  ['a fresh list', held(), 59.5, '60, age 59', 'hit; ttl=0', 'hit'],
  ['a fresh list of another replica', COPIED, 20, '60, age 20', 'hit; ttl=40; detail=shared', 'shared'],
  ['a stale list of another replica', COPIED, 99.9, '0, age 99', 'hit; ttl=-40; detail=shared', 'stale'],
  ['a list whose freshness just ended', held(), 60, '0, age 60', 'hit; ttl=0', 'stale'],
  ['a fresh list whose load was slow', SLOW, 20, '55, age 15', 'hit; ttl=40', 'hit'],
  ['a stale list', held(), 99.9, '0, age 99', 'hit; ttl=-40', 'stale'],
  ['a list that was loaded again when stale', stored('stale'), 0, '60', 'fwd=stale; stored', 'refreshed'],
  ['a list that was loaded again on request', stored('request'), 0, '60', 'fwd=request; stored', 'refreshed'],
  ['a list that the upstream revalidated', RENEWED, 0, '60', 'fwd=stale; fwd-status=304; stored', 'refreshed'],
  ['a stale list while the upstream fails', failing(error), 600, '0, age 600', FAILED, 'stale'],
  [
    'one while the breaker is open',
    failing(OPEN),
    600,
    '0, age 600',
    'fwd=stale; ttl=-540; detail=breaker-open',
    'stale',
  ],
  ['a list that expires with its token', EXPIRING, 3, '7, age 3', 'hit; ttl=4', 'hit'],
  ['a list whose token has expired', EXPIRED, 0, '0', 'fwd=miss', 'miss'],
];

describe('the headers of a snapshot', () => {
  for (const [what, load, afterSeconds, life, status, outcome] of CASES) {
    it(`are right for ${what}`, () => {
      const [maxAge, age] = life.split(', age ');
      const control = maxAge === '-' ? 'private, no-cache' : `private, max-age=${maxAge}`;
      expect(headersAfter(load, afterSeconds)).to.deep.equal([control, age, `portico; ${status}`, outcome]);
    });
  }

  it('include the tag and the number of dropped items', () => {
    const always = { ETag: snapshot.etag };
    expect(headersOfLoad(loadOf([], { snapshot }), LOADED_AT)).to.include(always);
    expect(headersOfLoad(loadOf([], { snapshot, cached: HELD, dropped: 2 }), LOADED_AT)).to.include({
      ...always,
      'Portico-Dropped-Items': '2',
    });
  });

  it('have no negative age when the clock is set back', () => {
    expect(headersAfter({ cached: { ...HELD, forwarded: 'miss' }, collapsed: true }, -5)[1]).to.equal('0');
  });
});
