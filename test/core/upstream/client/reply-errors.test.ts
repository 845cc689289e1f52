import { expect } from 'chai';
import type { ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { errorOfExchange, retryAfterSeconds } from '../../../../src/core/upstream/client/reply-errors.ts';
import type { UpstreamOptions } from '../../../../src/core/upstream/client/upstream-client.ts';
import { json } from '../../../support/platform/http-upstream.ts';
import { asking, calm, errorOf, open, serve } from '../harness.ts';

const REFUSED = /refused the request. Trying again will not help/;
const ABSENT = /has no list at the configured path, or hides it. Trying again will not help/;
const ANSWERED = /answered this read with an error. Trying again may help/;
const FAULT = { countsForBreaker: true, retryable: undefined };
const NO_FAULT = { countsForBreaker: false, retryable: undefined };

/** Statuses that stand for the others of their class; the fault matrix has those that platforms send most. */
const STATUSES: readonly (readonly [number[], ErrorCode, object, RegExp?])[] = [
  [[201, 202, 206], 'upstream_invalid', NO_FAULT],
  [
    [300, 302, 304],
    'upstream_failed',
    NO_FAULT,
    /redirect, which is not followed. An expired or revoked access token may be the cause/,
  ],
  [[400, 405, 407, 422, 499], 'upstream_refused', NO_FAULT, REFUSED],
  [[404, 410], 'upstream_refused', NO_FAULT, ABSENT],
  [[401], 'credential_rejected', NO_FAULT],
  [[403], 'upstream_rate_limited', { ...NO_FAULT, retryAfterSeconds: 7 }],
  [[419, 440, 498], 'upstream_refused', NO_FAULT, /access token may be the cause/],
  [[408, 425], 'upstream_failed', NO_FAULT, ANSWERED],
  [[429], 'upstream_rate_limited', { ...NO_FAULT, retryAfterSeconds: 7 }],
  [[500, 501, 599], 'upstream_failed', FAULT, ANSWERED],
  [[502, 503, 504], 'upstream_failed', { ...FAULT, retryAfterSeconds: 7 }, ANSWERED],
];

describe('the status of an upstream', () => {
  async function errorFor(
    status: number,
    options: Partial<UpstreamOptions> = {},
    headers: Record<string, string> = { 'retry-after': '7' },
  ) {
    const body = status === 204 || status === 304 ? undefined : { message: 'secret words of the platform' };
    const server = await serve(json(body, status, headers));
    return errorOf(open(server.url, options).get(asking(), calm()));
  }

  it('brings a page with 200 and 203, and with 206 if a header states the rest of the list', async () => {
    for (const [status, headers] of [
      [200, {}],
      [203, {}],
      [206, { 'content-range': 'items 0-0/120' }],
      [206, { 'x-total-count': '120' }],
    ] as const) {
      const server = await serve(json([1], status, headers));
      expect((await open(server.url).get(asking(), calm())).page).to.equal('[1]');
    }
  });

  it('brings an empty page with 204', async () => {
    const server = await serve((_request, response) => response.writeHead(204).end());
    expect((await open(server.url).get(asking(), calm())).page).to.equal('');
  });

  for (const [statuses, code, facts, detail = /./] of STATUSES) {
    it(`${statuses.join(', ')}: ${code}, whether it counts as a fault, and whether trying again may help`, async () => {
      for (const status of statuses) {
        const error = await errorFor(status);
        expect(error).to.include({ code, upstream: 'projects', reason: `answered with status ${status}`, ...facts });
        expect(error.detail)
          .to.match(detail)
          .and.not.match(/secret|did not answer/);
      }
    });
  }

  it('is 401 if a header says that the token was refused, and a guest would see this', async () => {
    for (const headers of [
      { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' },
      { 'x-seraph-loginreason': 'AUTHENTICATION_DENIED' },
      { 'www-authenticate': 'Bearer realm="x", error="invalid_token"' },
    ]) {
      const error = await errorFor(200, {}, headers);
      expect(error).to.include({ code: 'credential_rejected', upstreamStatus: 401, countsForBreaker: false });
      expect(error.reason).to.equal('answered with status 200, and a header says that the token was refused');
    }
    for (const headers of [{ 'x-seraph-loginreason': 'OK' }, { 'www-authenticate': 'Basic realm="x"' }]) {
      const server = await serve(json([1], 200, headers));
      expect((await open(server.url).get(asking(), calm())).page).to.equal('[1]');
    }
  });

  it('says of a redirect that may only add a slash that path lacks it', async () => {
    for (const [status, location, isNamed] of [
      [301, 'https://x.example/api/projects/?page=1', true],
      [308, '/api/projects/', true],
      [301, 'https://x.example/login', false],
      [301, 'https://x.example/', false],
      [301, '/', false],
      [302, '/login/', false],
    ] as const) {
      const { reason } = await errorFor(status, {}, { location });
      expect(reason.endsWith('to an address that ends in /: add it to path'), location).to.equal(isNamed);
    }
  });

  it('is throttling with a 403 that names a wait or an exhausted limit, whoever owns the credential', async () => {
    for (const headers of [{ 'retry-after': '7' }, { 'x-ratelimit-remaining': '0' }, { 'ratelimit-remaining': '0' }]) {
      for (const usesCallerToken of [true, false]) {
        const error = await errorFor(403, { usesCallerToken }, headers);
        expect(error).to.include({ code: 'upstream_rate_limited', upstreamStatus: 403, countsForBreaker: false });
      }
    }
    expect((await errorFor(403, {}, { 'x-ratelimit-remaining': '1' })).code).to.equal('access_denied');
  });

  it('has the reset of a limit, in seconds or since the epoch, where Retry-After is missing', async () => {
    const epoch = String(Math.floor(Date.now() / 1000) + 42);
    for (const [status, headers, least, most] of [
      [429, { 'x-ratelimit-reset': epoch }, 39, 42],
      [429, { 'x-ratelimit-requests-reset': `${epoch}000` }, 39, 42],
      [429, { 'ratelimit-reset': '42' }, 42, 42],
      [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epoch }, 39, 42],
      [429, { 'retry-after': '7', 'x-ratelimit-reset': epoch }, 7, 7],
      [429, { 'x-ratelimit-reset': '1000000000' }, 1, 1],
      [429, { 'x-ratelimit-reset': '99999' }, 3600, 3600],
      [429, { 'x-rate-limit-reset': '42' }, 42, 42],
      [429, { 'x-ratelimit-reset-after': '42' }, 42, 42],
      [
        403,
        { 'x-ratelimit-remaining-minute': '0', 'x-ratelimit-reset-minute': '42', 'x-ratelimit-reset-hour': '7' },
        42,
        42,
      ],
      [429, { 'x-ratelimit-reset': 'soon', 'ratelimit-reset': '8' }, 8, 8],
    ] as const) {
      expect((await errorFor(status, {}, headers)).retryAfterSeconds).to.be.within(least, most);
    }
    expect((await errorFor(503, {}, { 'ratelimit-reset': '42' })).retryAfterSeconds).to.equal(undefined);
  });

  it('says that the token may be the cause where a web page comes in place of JSON', async () => {
    for (const [body, isMarkup] of [
      ['\uFEFF \n<!doctype html><title>Sign in</title>', true],
      ['not JSON', false],
    ] as const) {
      const server = await serve((_request, response) => response.writeHead(200).end(body));
      const read = () => {
        throw new GatewayError('upstream_invalid', { reason: 'not JSON' });
      };
      const error = await errorOf(open(server.url).get({ ...asking(), read }, calm()));
      expect(error).to.include({ code: 'upstream_invalid', countsForBreaker: false });
      expect(error.detail.includes('access token may be the cause')).to.equal(isMarkup);
    }
  });
});

const NOW = Date.UTC(1994, 10, 6, 8, 49, 7);

describe('Retry-After', () => {
  it('is read as whole seconds, rounded up, from one second to an hour', () => {
    for (const [field, seconds, laterMs = 0] of [
      ['120', 120],
      ['0', 1],
      ['86400', 3600],
      ['9'.repeat(400), 3600],
      ['Sun, 06 Nov 1994 08:49:37 GMT', 2, 28_001],
      ['Sun, 06 Nov 1994 08:49:37 GMT', 1, 60_000],
      ['Mon, 06 Nov 1995 08:49:37 GMT', 3600],
    ] as const) {
      expect(retryAfterSeconds(field, NOW + laterMs), field).to.equal(seconds);
    }
  });

  it('is read as a date in each of the three forms of HTTP', () => {
    for (const date of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])
      expect(retryAfterSeconds(date, NOW)).to.equal(30);
  });

  it('is ignored if it is absent, repeated or malformed', () => {
    const malformed = ['', '-1', '1.5', '1e3', ' ', 'soon', '1994-11-06T08:49:37Z', 'Sun, 66 Nov 1994 08:49:37 GMT'];
    for (const field of [undefined, ['1', '2'], ...malformed])
      expect(retryAfterSeconds(field, NOW), String(field)).to.equal(undefined);
  });
});

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });

describe('an exchange that breaks off', () => {
  it('is counted, and retried if no connection was made or one was lost', () => {
    for (const [retryable, codes] of [
      ['connect', ['UND_ERR_CONNECT_TIMEOUT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETDOWN', 'EAI_AGAIN']],
      ['reset', ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']],
      [undefined, ['UND_ERR_HEADERS_OVERFLOW', 'CERT_HAS_EXPIRED', 'UNHEARD_OF']],
    ] as const) {
      for (const code of codes)
        expect(errorOfExchange(coded(code), false), code).to.include({ countsForBreaker: true, retryable });
    }
  });

  it('tells callers how far it came', () => {
    for (const [code, hasBegun, detail] of [
      ['ECONNRESET', false, /did not answer/],
      ['ECONNRESET', true, /response ended early/],
      ['HTTPParserError', true, /response was not valid HTTP/],
      ['UND_ERR_HEADERS_OVERFLOW', false, /response was not valid HTTP/],
      ['CERT_HAS_EXPIRED', false, /No secure connection/],
    ] as const) {
      expect((errorOfExchange(coded(code), hasBegun) as GatewayError).detail).to.match(detail);
    }
  });
});
