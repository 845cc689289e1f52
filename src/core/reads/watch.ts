import type { Caller } from '../kernel/caller.ts';
import type { Catalogue } from './catalogue/catalogue.ts';

/** The lists that are watched, and for whom. */
export interface WatchRequest {
  /** Names of the resources. */
  readonly resources: readonly string[];
  readonly caller: Caller;
  readonly catalogue: Pick<Catalogue, 'read'>;
  /** The watch ends when one of them aborts. */
  readonly until: readonly AbortSignal[];
  /** Whether the caller has started this process: its watch has no time limit. */
  readonly isLocal: boolean;
}

/**
 * Watches a caller's own lists. Rejects with `credential_rejected`, or with `overloaded` beyond a bound. Resolves when changes
 * are seen: with the name of each list that has changed, until the watch ends. It throws when the credential is rejected.
 */
export type Watch = (request: WatchRequest) => Promise<AsyncIterable<string>>;
