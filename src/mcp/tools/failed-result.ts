import type { CallToolResult } from '@modelcontextprotocol/server';
import type { GatewayError } from '../../kernel/errors.ts';

/**
 * A failure as the result of a tool, for the model: what went wrong, and what may help. Its code is in `_meta`, too,
 * for programs.
 */
export function failedResult(failure: GatewayError, requestId: string): CallToolResult {
  const { code, detail, upstream, retryAfterSeconds } = failure;
  const wait = retryAfterSeconds === undefined ? '' : ` Wait ${retryAfterSeconds} s before the next attempt.`;
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${detail}${wait} (request ${requestId})` }],
    _meta: { 'portico/error': { code, requestId, upstream, retryAfterSeconds } },
  };
}
