import { randomUUID } from 'node:crypto';
import { openFor } from '../../composition.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { createCore } from '../../core/core.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { withoutVerification } from '../../core/local-caller.ts';
import type { LogDestination } from '../../core/log/destination.ts';
import { createLogger } from '../../core/log/logger.ts';
import type { Load } from '../../core/reads/snapshots/load.ts';
import type { Tap } from '../../core/upstream/client/tap.ts';

export interface SingleReadOptions {
  readonly config: Config;
  /** Name of the resource. */
  readonly resource: string;
  readonly identity: Identity;
  readonly tap: Tap;
  readonly events?: Events;
}

const NOWHERE: LogDestination = { write() {}, flushSync() {} };
const SILENT = createLogger({ level: 'silent', destination: NOWHERE });

/**
 * Reads a resource once with a core of its own, as `portico serve` does on its first read, and calls `use` with the outcome while
 * the connections are open.
 */
export async function readOnce<T>(
  { config, resource, identity, tap, events = {} }: SingleReadOptions,
  use: (outcome: Load | GatewayError) => T | Promise<T>,
): Promise<T> {
  const capabilities = openFor('probe', { config, events, logger: SILENT, destination: NOWHERE });
  const { hooks } = capabilities;
  const core = createCore(withoutVerification(config), { events, hooks, now: Date.now, tap });
  try {
    const caller = { ...identity, requestId: randomUUID() };
    const { signal } = new AbortController();
    return await use(await settled(async () => core.catalogue.read(resource, caller, { signal })));
  } finally {
    await core.close();
    await capabilities.stop(0);
  }
}

async function settled(read: () => Promise<Load>): Promise<Load | GatewayError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
