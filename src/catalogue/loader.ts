import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../kernel/caller.ts';
import { withDeadline } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Mapped } from '../mapping/mapper.ts';
import type { Page } from '../mapping/page.ts';
import type { Load, Loader } from '../snapshots/load.ts';
import { createSnapshotWriter } from '../snapshots/snapshot-writer.ts';
import { type ListRequest, paginate } from '../upstream/pagination/paginate.ts';
import type { Pagination } from '../upstream/pagination/pagination.ts';
import type { Upstream } from '../upstream/upstream.ts';

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;

export interface LoaderOptions {
  readonly upstream: Upstream;
  /** Deadline of one read, all pages included. */
  readonly timeoutMs: number;
  readonly list: ListRequest;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page) => Mapped;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export function createLoader({ upstream, timeoutMs, list, parse, map, now }: LoaderOptions): Loader {
  const renewable = isRenewable(list.pagination);

  async function load(caller: Caller, signal: AbortSignal, known?: Load): Promise<Load> {
    const begun = performance.now();
    const loadedAt = now();
    const writer = createSnapshotWriter(loadedAt);
    let askAbout = known?.upstreamEtag;
    let etag: string | undefined;
    let renewed = false;
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
      const tag = askAbout;
      askAbout = undefined;
      const { text, headers, notModified = false } = await upstream.get(target, caller, pageSignal, tag);
      renewed ||= notModified;
      if (notModified) return { headers, body: null, items: [], exactItems: () => undefined };
      etag = entityTag(headers['etag']);
      return own(() => ({ headers, ...parse(text) }));
    };
    for await (const page of paginate(list, fetchPage, signal)) {
      if (renewed) break;
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
    const written = own(() => writer.finish());
    const upstreamMs = performance.now() - begun - ownMs;
    if (renewed && known !== undefined) {
      return { ...known, snapshot: Object.freeze({ ...known.snapshot, loadedAt }), upstreamMs, renewed };
    }
    const tagged = renewable && pages === 1 && etag !== undefined && { upstreamEtag: etag };
    return { snapshot: written, upstreamMs, pages, dropped, ...tagged };
  }

  return async (caller, signal, { known } = {}) => {
    try {
      return await withDeadline(timeoutMs, signal, (deadline) => load(caller, deadline, known));
    } catch (error) {
      throw error instanceof GatewayError ? error.from(upstream.name) : error;
    }
  };
}

/** Whether a page's body itself says that no other follows: a total or a link in a header may change under its tag. */
function isRenewable(pagination: Pagination): boolean {
  const { kind } = pagination;
  return kind === 'none' || kind === 'token' || (kind === 'link' && pagination.next !== undefined);
}

/** The one entity tag that a page came with (RFC 9110, section 8.8.3), if it can be sent back as it is. */
function entityTag(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && ENTITY_TAG.test(value) ? value : undefined;
}
