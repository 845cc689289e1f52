import { GatewayError } from '../kernel/errors.ts';

/** What an upstream sent cannot be used. `reason` is words of ours: it never holds a value from the upstream. */
export function invalid(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { reason, cause });
}
