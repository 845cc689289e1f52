import type { GatewayError } from '../kernel/errors.ts';

/**
 * Whether the platform refuses the caller's credential, or denies it the resource. A client has to hear that from HTTP,
 * and answers with another token or by asking a person; a model can do nothing about it.
 */
export function isDenial(failure: GatewayError | undefined): boolean {
  return failure?.status === 401 || failure?.status === 403;
}
