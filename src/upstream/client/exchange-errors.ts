import { type ErrorCode, GatewayError, type Retryable } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';
import { isOutOfDescriptors } from './descriptors.ts';

/** Statuses that speak of a passing state, so that asking again may help (RFC 9110, section 15.6). */
const PASSING: readonly number[] = [502, 503, 504];

/**
 * The error that a response's status stands for; `undefined` for one that brings a page. `callersOwn` tells whose
 * business a credential is that the upstream does not accept: the caller's, or that of Portico's operator.
 */
export function errorOfStatus(status: number, headers: ReplyHeaders, callersOwn: boolean): GatewayError | undefined {
  if (status === 200 || status === 203) return undefined;
  const passing = PASSING.includes(status);
  const wait = passing || status === 429 ? retryAfterSeconds(headers['retry-after'], Date.now()) : undefined;
  return new GatewayError(codeOfStatus(status, callersOwn), {
    reason: `answered with status ${status}`,
    upstreamStatus: status,
    fault: status >= 500,
    ...(passing && { retryable: 'status' as const }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  });
}

function codeOfStatus(status: number, callersOwn: boolean): ErrorCode {
  if (status === 401) return callersOwn ? 'credential_rejected' : 'upstream_credential_rejected';
  if (status === 403) return callersOwn ? 'access_denied' : 'upstream_credential_rejected';
  if (status === 429) return 'upstream_rate_limited';
  // A success that brings something else than the whole page: 204, 206 and the like.
  if (status >= 200 && status < 300) return 'upstream_invalid';
  return 'upstream_failed';
}

const MAX_RETRY_AFTER_SECONDS = 3600;

/** IMF-fixdate, and the two obsolete forms that a recipient must still read (RFC 9110, section 5.6.7). */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * Seconds that a `Retry-After` field asks for, from 1 to 3600 whatever it says; `undefined` where it is absent or
 * malformed. `now` is in milliseconds since the epoch (RFC 9110, section 10.2.3).
 */
export function retryAfterSeconds(field: string | string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string') return undefined;
  const seconds = /^\d+$/.test(field) ? Number(field) : (parseHttpDate(field) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS);
}

function parseHttpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  // The asctime form names no zone but is UTC.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/** What is said of an exchange that broke. */
interface Row {
  readonly reason: string;
  readonly code?: ErrorCode;
  readonly retryable?: Retryable;
}

/** By the `code` of Node's or undici's error, or its name. The first row that fits counts. */
const BROKEN: readonly (readonly [RegExp, Row])[] = [
  [
    /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    { code: 'upstream_timeout', reason: 'the connection did not open in time', retryable: 'connect' },
  ],
  [/^ECONNREFUSED$/, { reason: 'the connection was refused', retryable: 'connect' }],
  [/^E(HOST|NET)(UNREACH|DOWN)$/, { reason: 'the host was not reached', retryable: 'connect' }],
  [/^(ENOTFOUND|EAI_[A-Z]+)$/, { reason: 'the host name was not resolved', retryable: 'connect' }],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, { reason: 'the body does not fit its Content-Length', retryable: 'reset' }],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, { reason: 'the connection was lost', retryable: 'reset' }],
  [/^UND_ERR_HEADERS_OVERFLOW$/, { reason: 'the response headers are too large' }],
  [/^HTTPParserError$/, { reason: 'the response is not well-formed HTTP' }],
  [/^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/, { reason: 'TLS was not established' }],
];

/** Codes that undici gives to a request that it would not send: a bug or a bad setting, nothing that an upstream did. */
const OURS = /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/;

/** Neither the upstream's fault nor worth another attempt: that would need a descriptor, too. */
const NO_DESCRIPTOR = {
  detail: 'This instance has too many connections open. Try again after Retry-After.',
  reason: 'this process has no file descriptor left for a connection',
};

const CLOSED = /^UND_ERR_(DESTROYED|CLOSED)$/;

/**
 * The error that an exchange broke off with, in our words; those of Node or undici stay in `cause`. What the upstream
 * has nothing to do with comes back as it is.
 */
export function errorOfExchange(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  if (isOutOfDescriptors(error)) return new GatewayError('overloaded', { ...NO_DESCRIPTOR, cause: error });
  const text = codeOf(error);
  if (error instanceof TypeError || OURS.test(text)) return error;
  if (CLOSED.test(text)) return new GatewayError('draining', { reason: 'the upstream client is closed', cause: error });
  const [, row] = BROKEN.find(([pattern]) => pattern.test(text)) ?? [];
  const { code = 'upstream_failed', ...facts } = row ?? { reason: 'the request failed' };
  return new GatewayError(code, { ...facts, fault: true, cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
