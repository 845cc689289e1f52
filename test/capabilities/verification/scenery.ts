import { createBoundedFetch } from '../../../src/capabilities/verification/bounded-fetch.ts';
import { createIssuer, type Issuer } from '../../../src/capabilities/verification/issuer.ts';
import type { ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { onCleanup } from '../../support/cleanup.ts';

/** Asks a server of a test, within small bounds. */
export function askIssuer(issuer: string, { maxBytes = 8192, timeoutMs = 10_000 } = {}): Issuer {
  const { fetch, close } = createBoundedFetch({ maxBytes, timeoutMs });
  onCleanup(close);
  return createIssuer({ issuer, fetch, timeoutMs });
}

/** The error that this comes to, as its code and reason. */
export async function errorOf(work: Promise<unknown>): Promise<readonly [ErrorCode, string | undefined]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof GatewayError) return [error.code, error.reason];
    throw error;
  }
  throw new Error('it came to no error');
}
