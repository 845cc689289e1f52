import { type ErrorCode, GatewayError } from '../kernel/errors.ts';

/** What a failed exchange is called, by the `code` of Node's or undici's error, or its name. The first row that fits counts. */
const FAILURES: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'upstream_timeout', 'the connection did not open in time'],
  [/^ECONNREFUSED$/, 'upstream_failed', 'the connection was refused'],
  [/^(ENOTFOUND|EAI_[A-Z]+)$/, 'upstream_failed', 'the host name was not resolved'],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, 'upstream_failed', 'the body does not fit its Content-Length'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'upstream_failed', 'the connection was lost'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'upstream_failed', 'the response headers are too large'],
  [/^HTTPParserError$/, 'upstream_failed', 'the response is not well-formed HTTP'],
  [
    /^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/,
    'upstream_failed',
    'TLS was not established',
  ],
  [/^UND_ERR_(DESTROYED|CLOSED)$/, 'draining', 'the upstream client is closed'],
];

/** Codes that undici gives to a request that it would not send: a bug or a bad setting, nothing that an upstream did. */
const OURS = /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/;

/**
 * The error that a request or a body ended with, in our words; theirs stays in `cause`. What is no failure of the
 * upstream comes back as it is.
 */
export function failure(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  const text = codeOf(error);
  if (error instanceof TypeError || OURS.test(text)) return error;
  const [, code, reason] = FAILURES.find(([pattern]) => pattern.test(text)) ?? [
    undefined,
    'upstream_failed' as const,
    'the request failed',
  ];
  return new GatewayError(code, { reason, cause: error });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
