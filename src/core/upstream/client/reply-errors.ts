import type { ErrorCode } from '../../kernel/error-table.ts';
import { GatewayError, type GatewayErrorFacts } from '../../kernel/errors.ts';
import { headerStatements } from '../hints/statements.ts';
import type { ReplyHeaders } from '../upstream.ts';

/** Whether it is one of the two statuses of 4xx about the time of a request, not its content (RFC 9110, section 15.5.9; RFC 8470). */
export function isUntimely(status: number | undefined): boolean {
  return status === 408 || status === 425;
}

/** Statuses of a list that does not exist or is hidden. */
const ABSENT: readonly number[] = [404, 410];

/** Statuses without a registration that platforms send in place of 401: an expired page, session or token. */
const LIKE_UNAUTHORIZED: readonly number[] = [419, 440, 498];

/** In headers of a reply that has what a guest sees, since the token has expired: of Jira, or by RFC 6750, section 3. */
const GUEST = /\b(?:AUTHENTICATED_FAILED|AUTHENTICATION_DENIED|invalid_token)\b/;
/** Status and address of a redirect that may only add a slash, as Django's. After a session has ended, they are others. */
const ADDS_SLASH = /^30[18] (?:\w+:\/\/[^/]*)?\/.*\w\/(?:\?|$)/;

const TOKEN_MAY_BE_THE_CAUSE =
  'An expired or revoked access token may be the cause: check it before trying again. Otherwise the operator of Portico finds the reason in the log, by the requestId.';

/** Details for callers when the platform did answer. */
const DETAILS = {
  error: 'The platform answered this read with an error. Trying again may help.',
  redirect: `The platform answered with a redirect, which is not followed. ${TOKEN_MAY_BE_THE_CAUSE}`,
  unauthorized: `The platform refused the request. ${TOKEN_MAY_BE_THE_CAUSE}`,
  markup: `The platform answered with a web page in place of JSON. ${TOKEN_MAY_BE_THE_CAUSE}`,
  absent:
    'The platform has no list at the configured path, or hides it. Trying again will not help. The operator of Portico finds the reason in the log, by the requestId.',
  brokeOff: "The platform's response ended early. Trying again may help.",
  garbled: "The platform's response was not valid HTTP. Trying again is unlikely to help.",
  insecure: 'No secure connection to the platform could be established. Trying again is unlikely to help.',
};

export interface CredentialOwner {
  /** Whether it is the caller's own token: then a 401 or 403 is the caller's error, else the operator's (502). */
  readonly usesCallerToken: boolean;
  /** Whether it is that, or a token that was made for the caller: then a 403 is the caller's error. @default false */
  readonly provesToken?: boolean | undefined;
}

/** Returns the error for a response's status; `undefined` if the response carries a page. */
export function errorOfStatus(sent: number, headers: ReplyHeaders, owner: CredentialOwner): GatewayError | undefined {
  const isGuest = sent < 300 && GUEST.test(`${headers['x-seraph-loginreason']} ${headers['www-authenticate']}`);
  const status = isGuest ? 401 : sent;
  // Some platforms send 204 for an empty list, and 206 for a part of one that a header states (TM Forum, PostgREST).
  if (status === 200 || status === 203 || status === 204) return undefined;
  if (status === 206 && headerStatements(headers).length > 0) return undefined;
  const isThrottled = status === 429 || (status === 403 && showsThrottling(headers));
  const code = isThrottled ? 'upstream_rate_limited' : codeOfStatus(status, owner);
  const wait = isThrottled || status >= 500 ? waitSeconds(headers, isThrottled, Date.now()) : undefined;
  const addsSlash = ADDS_SLASH.test(`${sent} ${headers['location']}`);
  const hint = addsSlash ? ', to an address that ends in /: add it to path' : '';
  return new GatewayError(code, {
    ...detailOfStatus(status, code),
    reason: `answered with status ${sent}${isGuest ? ', and a header says that the token was refused' : hint}`,
    upstreamStatus: status,
    countsForBreaker: status >= 500,
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  });
}

/** Whether a 403 limits the rate of requests, as GitHub's does. */
function showsThrottling(headers: ReplyHeaders): boolean {
  return (
    headers['retry-after'] !== undefined ||
    Object.keys(headers).some((name) => REMAINING.test(name) && headers[name] === '0')
  );
}

function codeOfStatus(status: number, { usesCallerToken, provesToken = false }: CredentialOwner): ErrorCode {
  if (status === 401) return usesCallerToken ? 'credential_rejected' : 'upstream_credential_rejected';
  if (status === 403) return usesCallerToken || provesToken ? 'access_denied' : 'upstream_credential_rejected';
  // A success without the whole page: 206 and the like.
  if (status >= 200 && status < 300) return 'upstream_invalid';
  // The settings make Portico send a wrong request.
  if (status >= 400 && status < 500 && !isUntimely(status)) return 'upstream_refused';
  return 'upstream_failed';
}

function detailOfStatus(status: number, code: ErrorCode): { readonly detail?: string } {
  if (ABSENT.includes(status)) return { detail: DETAILS.absent };
  if (LIKE_UNAUTHORIZED.includes(status)) return { detail: DETAILS.unauthorized };
  if (code !== 'upstream_failed') return {};
  return { detail: status < 400 ? DETAILS.redirect : DETAILS.error };
}

/** Adds to the error of a body that is no page that it is markup, such as the page for signing in. */
export function withMarkupDetail(error: unknown, body: Buffer | undefined): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'upstream_invalid' || body === undefined) return error;
  if (!/^\s*</.test(body.toString('utf8', 0, 64))) return error;
  return new GatewayError(error.code, {
    detail: DETAILS.markup,
    reason: `${error.reason}: it is markup, such as HTML`,
    cause: error,
  });
}

/** `X-RateLimit-Remaining`, `X-Rate-Limit-Remaining-Minute`, `RateLimit-Reset`, `X-RateLimit-Reset-After` and their like. */
const REMAINING = /^(?:x-)?(?:[a-z]+-)?rate-?limit-(?:[a-z]+-)?remaining(?:-[a-z]+)?$/;
const RESET = /^(?:x-)?(?:[a-z]+-)?rate-?limit-(?:[a-z]+-)?reset(?:-[a-z]+)?$/;

/** Returns the wait that a response names; by the reset of a limit where that is what was exceeded. */
function waitSeconds(headers: ReplyHeaders, isThrottled: boolean, now: number): number | undefined {
  const wait = retryAfterSeconds(headers['retry-after'], now);
  if (wait !== undefined || !isThrottled) return wait;
  const resets = Object.keys(headers).filter((name) => RESET.test(name));
  // Where several limits are named, which one was exceeded is unknown.
  const waits = resets.flatMap((name) => resetSeconds(headers[name], now) ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Numbers from here on are seconds since the epoch, and milliseconds: as a wait, they would be 30 years. */
const LEAST_EPOCH_SECONDS = 1e9;
const LEAST_EPOCH_MS = 1e12;

function resetSeconds(field: string | string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string' || !/^\d+$/.test(field)) return undefined;
  const seconds = Number(field);
  if (seconds < LEAST_EPOCH_SECONDS) return withinBounds(seconds);
  return withinBounds((seconds < LEAST_EPOCH_MS ? seconds : seconds / 1000) - now / 1000);
}

const MAX_RETRY_AFTER_SECONDS = 3600;

/** All three forms of a date begin with the day of the week (RFC 9110, section 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]+,? /;

/**
 * Parses a `Retry-After` field into seconds, limited to 1 to 3600; `undefined` if it is absent or malformed. `now` is in
 * milliseconds since the epoch (RFC 9110, section 10.2.3).
 */
export function retryAfterSeconds(field: string | string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string') return undefined;
  const seconds = /^\d+$/.test(field) ? Number(field) : (parseHttpDate(field) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : withinBounds(seconds);
}

function withinBounds(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS);
}

function parseHttpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  // The asctime form names no zone but is UTC.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/** `TimeoutError`: of a signal that bounds the opening alone. */
const OPENED_TOO_LATE = /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|TimeoutError)$/;
const TLS_FAILURE = /^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;

const CONNECTING = { retryable: 'connect' } as const;
const LOST = { retryable: 'reset' } as const;
const GARBLED = { detail: DETAILS.garbled };
const INSECURE = { detail: DETAILS.insecure };

/** Failures by the `code` or name of the error of Node or undici: the reason, and other facts. The first match counts. */
const FAILURES: readonly (readonly [RegExp, string, GatewayErrorFacts?])[] = [
  [OPENED_TOO_LATE, 'the connection did not open in time', CONNECTING],
  [/^ECONNREFUSED$/, 'the connection was refused', CONNECTING],
  [/^E(HOST|NET)(UNREACH|DOWN)$/, 'the host was not reached', CONNECTING],
  [/^(ENOTFOUND|EAI_[A-Z]+)$/, 'the host name was not resolved', CONNECTING],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, 'the body does not match its Content-Length', LOST],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the connection was lost', LOST],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'the response headers are too large', GARBLED],
  [/^HTTPParserError$/, 'the response is not well-formed HTTP', GARBLED],
  [TLS_FAILURE, 'TLS was not established', INSECURE],
];

/** Codes of undici for a request that it refuses to send: a bug or a bad setting, not a fault of the upstream. */
const NOT_SENT = /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/;

const CLOSED = /^UND_ERR_(DESTROYED|CLOSED)$/;

/**
 * Converts the error that ended an exchange; the original stays in `cause`. An error that the upstream has nothing to do with
 * is returned unchanged. `hasBegun`: the head of the response had arrived.
 */
export function errorOfExchange(error: unknown, hasBegun: boolean): unknown {
  if (error instanceof GatewayError) return error;
  if (isOutOfResources(error)) {
    // Not a fault of the upstream, and a retry would need a descriptor, too.
    const detail = 'This instance has too many connections open. Try again after Retry-After.';
    const reason = 'this process has no file descriptor left for a connection';
    return new GatewayError('overloaded', { detail, reason, cause: error });
  }
  const nodeCode = nodeCodeOf(error);
  if (error instanceof TypeError || NOT_SENT.test(nodeCode)) return error;
  if (CLOSED.test(nodeCode))
    return new GatewayError('draining', { reason: 'the upstream client is closed', cause: error });
  const [, why = 'the request failed', facts] = FAILURES.find(([pattern]) => pattern.test(nodeCode)) ?? [];
  // Operators look up the codes of OpenSSL.
  const reason = facts === INSECURE ? `${why} (${nodeCode})` : why;
  const code = OPENED_TOO_LATE.test(nodeCode) ? 'upstream_timeout' : 'upstream_failed';
  const detail = hasBegun ? { detail: DETAILS.brokeOff } : {};
  return new GatewayError(code, { reason, ...detail, ...facts, countsForBreaker: true, cause: error });
}

/** Whether a connection did not open because this process or its host has no descriptor or memory left. */
function isOutOfResources(error: unknown): boolean {
  return /^(EMFILE|ENFILE|ENOBUFS|ENOMEM)$/.test(nodeCodeOf(error));
}

function nodeCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
