import { type ErrorCode, GatewayError, type Retryable } from '../kernel/errors.ts';

/** What a failed exchange is called. */
interface Failure {
  readonly reason: string;
  readonly code?: ErrorCode;
  readonly retryable?: Retryable;
}

/** By the `code` of Node's or undici's error, or its name. The first row that fits counts. */
const FAILURES: readonly (readonly [RegExp, Failure])[] = [
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

const CLOSED = /^UND_ERR_(DESTROYED|CLOSED)$/;

/**
 * The error that a request or a body ended with, in our words; theirs stays in `cause`. What is no failure of the
 * upstream comes back as it is.
 */
export function failure(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  const text = codeOf(error);
  if (error instanceof TypeError || OURS.test(text)) return error;
  if (CLOSED.test(text)) return new GatewayError('draining', { reason: 'the upstream client is closed', cause: error });
  const [, known] = FAILURES.find(([pattern]) => pattern.test(text)) ?? [];
  const { code = 'upstream_failed', ...facts } = known ?? { reason: 'the request failed' };
  return new GatewayError(code, { ...facts, fault: true, cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
