import { type Caller, requestOf } from '../../kernel/caller.ts';
import { withDeadline } from '../../kernel/deadline.ts';
import { codeOf, GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { LoadAccount, Loading } from '../../upstream/loading.ts';
import type { Load, Loader, LoadOptions } from '../snapshots/load.ts';

export interface LoaderBounds {
  readonly resource: string;
  readonly timeoutMs: number;
  /** Decoded bytes of all pages together. */
  readonly maxReadBytes: number;
  readonly loading: Loading;
  readonly events: Events;
}

interface LoadInBounds extends Pick<LoadOptions, 'previous'> {
  readonly caller: Caller;
  /** By `performance.now()`. */
  readonly dueAt: number;
  readonly account: LoadAccount;
  readonly signal: AbortSignal;
}

/** Bounds a load in time and bytes, emits its end, and names the upstream in its errors. */
export function createBoundedLoader(
  { resource, timeoutMs, maxReadBytes, loading, events }: LoaderBounds,
  upstream: string,
  load: (options: LoadInBounds) => Promise<Load>,
): Loader {
  return async (caller, signal, { previous, dueAt: dueAtLast = Number.POSITIVE_INFINITY } = {}) => {
    const startedAt = performance.now();
    const dueAt = Math.min(startedAt + timeoutMs, dueAtLast);
    const account = loading.open({ maxReadBytes });
    const emitEnd = (why?: { readonly error: string; readonly reason: string | undefined }) =>
      events.loadEnded?.({ resource, upstream, ms: performance.now() - startedAt, ...why });
    try {
      const loaded = await withDeadline(timeoutMs, signal, (until) =>
        load({ caller, dueAt, account, signal: until, previous }),
      );
      emitEnd();
      return loaded;
    } catch (error) {
      const { bound, reason } = error instanceof GatewayError ? error : {};
      emitEnd({ error: codeOf(error, signal), reason });
      if (bound !== undefined) events.limitReached?.({ ...requestOf(caller), bound, upstream });
      throw error instanceof GatewayError ? error.from(upstream) : error;
    } finally {
      account.end();
    }
  };
}
