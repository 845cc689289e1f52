import type { ErrorCode } from '../../kernel/error-table.ts';
import { GatewayError, type Retryable } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';
import { isOutOfDescriptors } from './descriptors.ts';

/** Statuses that speak of a passing state, so that asking again may help (RFC 9110, section 15.6). */
const PASSING: readonly number[] = [502, 503, 504];

/** The two statuses of 4xx that speak of the moment, and not of what was asked (RFC 9110, section 15.5.9; RFC 8470). */
const UNTIMELY: readonly number[] = [408, 425];

/** Statuses of a list that is not there, or is hidden. */
const ABSENT: readonly number[] = [404, 410];

/** What callers are told of a platform that did answer. */
const SAYS = {
  error: 'The platform answered this read with an error. Trying again may help.',
  redirect: 'The platform answered with a redirect, which is not followed. Trying again seldom helps.',
  absent:
    "The platform has no list where Portico asked for it, or hides it. Trying again will not help. Portico's operator finds where by the requestId in the log.",
  brokeOff: 'The platform broke off its answer to this read. Trying again may help.',
  garbled: 'The platform answered, but not in HTTP that can be read. Trying again seldom helps.',
  insecure: 'No secure connection to the platform could be made. Trying again seldom helps.',
};

/** Whose business it is that an upstream does not accept what it is given, or does not let it read: see `UpstreamOptions`. */
export interface Given {
  readonly callersOwn: boolean;
  readonly madeForCaller?: boolean | undefined;
}

/** The error that a response's status stands for; `undefined` for one that brings a page. */
export function errorOfStatus(status: number, headers: ReplyHeaders, given: Given): GatewayError | undefined {
  if (status === 200 || status === 203) return undefined;
  const passing = PASSING.includes(status);
  const wait = passing || status === 429 ? retryAfterSeconds(headers['retry-after'], Date.now()) : undefined;
  const code = codeOfStatus(status, given);
  return new GatewayError(code, {
    ...detailOfStatus(status, code),
    reason: `answered with status ${status}`,
    upstreamStatus: status,
    fault: status >= 500,
    ...(passing && { retryable: 'status' as const }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  });
}

function codeOfStatus(status: number, { callersOwn, madeForCaller = false }: Given): ErrorCode {
  if (status === 401) return callersOwn ? 'credential_rejected' : 'upstream_credential_rejected';
  if (status === 403) return callersOwn || madeForCaller ? 'access_denied' : 'upstream_credential_rejected';
  if (status === 429) return 'upstream_rate_limited';
  // A success that brings something else than the whole page: 204, 206 and the like.
  if (status >= 200 && status < 300) return 'upstream_invalid';
  // What is wrong is what Portico asks for, and that is what its settings say.
  if (status >= 400 && status < 500 && !UNTIMELY.includes(status)) return 'upstream_refused';
  return 'upstream_failed';
}

/** What the row of the code does not say. */
function detailOfStatus(status: number, code: ErrorCode): { readonly detail?: string } {
  if (ABSENT.includes(status)) return { detail: SAYS.absent };
  if (code !== 'upstream_failed') return {};
  return { detail: status < 400 ? SAYS.redirect : SAYS.error };
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
  readonly detail?: string;
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
  [/^UND_ERR_HEADERS_OVERFLOW$/, { reason: 'the response headers are too large', detail: SAYS.garbled }],
  [/^HTTPParserError$/, { reason: 'the response is not well-formed HTTP', detail: SAYS.garbled }],
  [/^CERT_HAS_EXPIRED$/, { reason: "the upstream's certificate has expired", detail: SAYS.insecure }],
  [/^CERT_NOT_YET_VALID$/, { reason: "the upstream's certificate is not valid yet", detail: SAYS.insecure }],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    { reason: "the upstream's certificate is for another host", detail: SAYS.insecure },
  ],
  [
    /^(UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|CERT_UNTRUSTED|INVALID_CA)/,
    { reason: "the upstream's certificate is of an authority that is not known here", detail: SAYS.insecure },
  ],
  [
    /^ERR_SSL_.*ALERT_((BAD|UNSUPPORTED|NO)_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|ACCESS_DENIED)/,
    { reason: "the upstream does not accept Portico's certificate, or wants one", detail: SAYS.insecure },
  ],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|HTTPS_PROXY_REQUEST)$/,
    { reason: 'the upstream does not speak TLS there', detail: SAYS.insecure },
  ],
  [
    /^ERR_SSL_(.*ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE)$/,
    { reason: 'the upstream speaks no version of TLS that settings allow', detail: SAYS.insecure },
  ],
  [
    /^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/,
    { reason: 'TLS was not established', detail: SAYS.insecure },
  ],
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
 * has nothing to do with comes back as it is. `begun` tells whether the head of the response had come.
 */
export function errorOfExchange(error: unknown, begun: boolean): unknown {
  if (error instanceof GatewayError) return error;
  if (isOutOfDescriptors(error)) return new GatewayError('overloaded', { ...NO_DESCRIPTOR, cause: error });
  const text = codeOf(error);
  if (error instanceof TypeError || OURS.test(text)) return error;
  if (CLOSED.test(text)) return new GatewayError('draining', { reason: 'the upstream client is closed', cause: error });
  const [, row] = BROKEN.find(([pattern]) => pattern.test(text)) ?? [];
  const { code = 'upstream_failed', ...facts } = row ?? { reason: 'the request failed' };
  return new GatewayError(code, { ...(begun && { detail: SAYS.brokeOff }), ...facts, fault: true, cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
