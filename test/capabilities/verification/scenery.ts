import { createIssuer, type Issuer } from '../../../src/capabilities/verification/issuer.ts';
import type { ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { openServer } from '../../../src/core/upstream/open-upstream.ts';
import { onCleanup } from '../../support/cleanup.ts';

export function askIssuer(issuer: string, { maxBytes = 8192, timeoutMs = 10_000 } = {}): Issuer {
  const { send, close } = openServer({
    ...{ name: 'issuer', tls: undefined, proxy: undefined, connections: 16, maxQueue: 4, events: {} },
    ...{ maxBytes, timeoutMs, connectTimeoutMs: timeoutMs, wrapClient: (client) => client },
    breaker: { failurePercent: 50, minimumCalls: 10, windowMs: 10_000, openMs: 5000 },
    retry: { attempts: 2, statuses: [502, 503, 504], baseDelayMs: 1, maxDelayMs: 1, budgetPercent: 20 },
  });
  onCleanup(close);
  return createIssuer({ issuer, send, timeoutMs });
}

export async function errorOf(work: Promise<unknown>): Promise<readonly [ErrorCode, string | undefined]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof GatewayError) return [error.code, error.reason];
    throw error;
  }
  throw new Error('it came to no error');
}
