import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../kernel/caller.ts';
import { withDeadline } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Mapped } from '../mapping/mapper.ts';
import type { Page } from '../mapping/page.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import { createSnapshotWriter } from '../snapshots/snapshot-writer.ts';
import { type ListRequest, paginate } from '../upstream/pagination/paginate.ts';
import type { Upstream } from '../upstream/upstream.ts';

/** One whole read of a resource. */
export interface Load {
  readonly snapshot: Snapshot;
  /** Milliseconds spent waiting for the upstream, all pages together. */
  readonly upstreamMs: number;
  readonly pages: number;
  /** Items left out because they could not be mapped (`invalidItems: drop`). */
  readonly dropped: number;
}

/** Loads one resource as `caller` may see it: complete, or an error that names the upstream. */
export type Loader = (caller: Caller, signal: AbortSignal) => Promise<Load>;

export interface LoaderOptions {
  readonly upstream: Upstream;
  /** Deadline of one read, all pages included. */
  readonly timeoutMs: number;
  readonly list: ListRequest;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page) => Mapped;
}

export function createLoader({ upstream, timeoutMs, list, parse, map }: LoaderOptions): Loader {
  async function load(caller: Caller, signal: AbortSignal): Promise<Load> {
    const begun = performance.now();
    const writer = createSnapshotWriter(Date.now());
    let ownMs = 0;
    let pages = 0;
    let dropped = 0;
    const own = <T>(work: () => T): T => {
      const start = performance.now();
      const result = work();
      ownMs += performance.now() - start;
      return result;
    };
    const fetchPage = async (target: string, pageSignal: AbortSignal) => {
      const { text, headers } = await upstream.get(target, caller, pageSignal);
      return own(() => ({ headers, ...parse(text) }));
    };
    for await (const page of paginate(list, fetchPage, signal)) {
      // Pages that were fetched ahead are ready at once: let other requests have their turn between them.
      if (pages > 0) await nextTurn();
      signal.throwIfAborted();
      own(() => {
        const mapped = map(page);
        writer.add(mapped.items);
        dropped += mapped.dropped;
      });
      pages += 1;
    }
    const snapshot = own(() => writer.finish());
    return { snapshot, upstreamMs: performance.now() - begun - ownMs, pages, dropped };
  }

  return async (caller, signal) => {
    try {
      return await withDeadline(timeoutMs, signal, (deadline) => load(caller, deadline));
    } catch (error) {
      throw error instanceof GatewayError ? error.from(upstream.name) : error;
    }
  };
}
