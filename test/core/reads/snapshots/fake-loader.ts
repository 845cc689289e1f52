import { expect } from 'chai';
import { type Caller, Credential } from '../../../../src/core/kernel/caller.ts';
import type { CallerQuota } from '../../../../src/core/kernel/quotas.ts';
import type { Load, Loader, LoadOptions } from '../../../../src/core/reads/snapshots/load.ts';
import { createWaiting } from '../../../../src/core/reads/snapshots/with-cache.ts';
import { loadOf } from '../../../support/platform/loads.ts';

/** One load that a test decides on. */
export interface PendingLoad {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly options: LoadOptions | undefined;
  /** Ends it with what the upstream showed. */
  finish(items?: readonly object[], rest?: Partial<Load>): void;
  reject(error: unknown): void;
}

/** A loader whose loads end when a test says so, or with their signal. `pendingLoads` has them, oldest first. */
export function createFakeLoader(
  now: () => number,
  onLoad: (pendingLoad: PendingLoad) => void = () => {},
): { load: Loader; pendingLoads: PendingLoad[] } {
  const pendingLoads: PendingLoad[] = [];
  const load: Loader = (caller, signal, options) =>
    new Promise((resolve, reject) => {
      const loadedAt = now();
      signal.addEventListener('abort', () => reject(signal.reason));
      const finish: PendingLoad['finish'] = (items = [], rest = {}) => resolve(loadOf(items, { loadedAt, ...rest }));
      const pendingLoad = { caller, signal, options, finish, reject };
      pendingLoads.push(pendingLoad);
      onLoad(pendingLoad);
    });
  return { load, pendingLoads };
}

/** A caller whose key is its token's name, and whose cache scope is its own unless told otherwise. */
export function callerOf(token: string, rest: Partial<Caller> = {}): Caller {
  return {
    credential: new Credential(token),
    credentialKey: token,
    cacheScope: token,
    requestId: `request of ${token}`,
    ...rest,
  };
}

export const never: AbortSignal = new AbortController().signal;

/** Room for more readers than any of these tests has. */
export const roomy = (): CallerQuota => createWaiting({ maxWaiting: 10_000, maxWaitingPerCaller: 10_000 });

/** Lets everything that is ready happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What a promise rejects with. */
export function errorOf(reading: unknown): Promise<unknown> {
  return Promise.resolve(reading).then(
    () => expect.fail('it did not reject'),
    (error) => error,
  );
}

export const text = ({ snapshot }: Load): string => snapshot.bytes.toString();
