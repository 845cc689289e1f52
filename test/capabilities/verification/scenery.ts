import type { ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';

export async function errorOf(work: Promise<unknown>): Promise<readonly [ErrorCode, string | undefined]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof GatewayError) return [error.code, error.reason];
    throw error;
  }
  throw new Error('it came to no error');
}
