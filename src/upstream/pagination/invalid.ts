import { GatewayError } from '../../kernel/errors.ts';

/** The error for pages from which the whole list cannot be built. `reason` is for the log. */
export function invalid(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { reason, cause });
}
