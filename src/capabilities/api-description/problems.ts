import { ERRORS, type ErrorCode } from '../../core/kernel/error-table.ts';
import { HEADERS, headersOf } from './headers.ts';

/** Codes that no read is answered with: they are about messages of MCP, or about other paths and methods. */
const NEVER_OF_READS: ReadonlySet<ErrorCode> = new Set([
  ...(['parse_error', 'invalid_rpc', 'header_mismatch', 'version_unsupported', 'invalid_params'] as const),
  ...(['list_changed', 'result_too_large', 'too_large', 'unsupported_media_type'] as const),
  ...(['not_found', 'method_not_allowed'] as const),
]);

/** Codes that need a `uri` or a platform, neither of which the list has. */
function isOfOneResource(code: ErrorCode): boolean {
  return /^(?:uri_(?!too_long)|resource_|upstream_|breaker_|access_)/.test(code);
}

const READ_CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !NEVER_OF_READS.has(code));

export const CODES = {
  list: READ_CODES.filter((code) => !isOfOneResource(code)),
  read: READ_CODES,
} as const;

/** A problem body, as `response/problem.ts` makes it. */
export const PROBLEM = {
  description: 'Problem details (RFC 9457). Programs should use code; title and detail are for people.',
  type: 'object',
  properties: {
    type: { type: 'string', pattern: '^urn:portico:error:[a-z_]+$' },
    title: { type: 'string', minLength: 1 },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', minLength: 1 },
    instance: { type: 'string', pattern: '^urn:portico:request:' },
    code: { enum: Object.keys(ERRORS), description: 'Stable: codes may be added, but are never renamed.' },
    requestId: { type: 'string', description: 'The X-Request-Id of the response.' },
    upstream: { type: 'string', description: 'Name in settings of the platform that failed.' },
    retryAfterSeconds: { type: 'integer', minimum: 0, description: 'The Retry-After of the response.' },
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  additionalProperties: false,
};

export function problemResponses(codes: readonly ErrorCode[]): Record<string, object> {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    byStatus.entries().map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `${ERRORS[code].title} (\`${code}\`)`).join(', '),
        headers: headersOf([
          ...HEADERS.problem,
          ...(status === 401 ? ['WWW-Authenticate'] : []),
          ...(status === 403 ? ['WWW-Authenticate-of-403'] : []),
          ...(ofStatus.some(isWaitedFor) ? ['Retry-After'] : []),
        ]),
        content: {
          'application/problem+json': {
            schema: {
              $ref: '#/components/schemas/problem',
              properties: { status: { const: status }, code: { enum: ofStatus } },
            },
          },
        },
      },
    ]),
  );
}

/** Whether a response may have `Retry-After`, as any failure of a platform can. */
function isWaitedFor(code: ErrorCode): boolean {
  return 'retryAfterSeconds' in ERRORS[code] || code === 'upstream_failed';
}
