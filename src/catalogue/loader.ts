import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../kernel/caller.ts';
import { withDeadline } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Mapped } from '../mapping/mapper.ts';
import type { Page } from '../mapping/page.ts';
import type { Events } from '../observability/events.ts';
import type { Load, Loader } from '../snapshots/load.ts';
import type { Memo, Memoized } from '../snapshots/memo.ts';
import { createSnapshotWriter } from '../snapshots/snapshot.ts';
import { textOf } from '../upstream/client/body.ts';
import type { LoadAccount, Loading } from '../upstream/loading.ts';
import { firstTarget, type ListRequest, type PageView, paginate } from '../upstream/pagination/paginate.ts';
import type { Pagination } from '../upstream/pagination/pagination.ts';
import type { PageRequest, Reply, Upstream } from '../upstream/upstream.ts';

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;

export interface LoaderOptions {
  /** Name of the resource, as events tell it. */
  readonly resource: string;
  readonly upstream: Upstream;
  /** Deadline of one read, all pages included. */
  readonly timeoutMs: number;
  readonly list: ListRequest;
  /** Bytes of one read, all its pages together, decoded. */
  readonly maxReadBytes: number;
  /** All loads under way, of this resource and others. */
  readonly loading: Loading;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page) => Mapped;
  /** Spares the work on what an upstream has sent before. */
  readonly memo?: Memo | undefined;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What the body of the first page comes to: a page, or what was made of the same body before. */
type First = { readonly page: Page; readonly memoKey?: string | undefined } | { readonly memoized: Memoized };

/**
 * Loads a list page by page, and makes one snapshot of it. The first page is asked for before the others are thought of: its
 * response may say that the whole list is what it was.
 */
export function createLoader(options: LoaderOptions): Loader {
  const { resource, upstream, timeoutMs, list, maxReadBytes, loading, parse, map, events, now } = options;
  const target = firstTarget(list);
  // Only where its body tells the end of the list may a first page be all of it, whatever came with the body.
  const tellsItsEnd = bodyTellsEnd(list.pagination);
  const memo = tellsItsEnd ? options.memo : undefined;

  const parsePage = (body: Buffer): Page => parse(textOf(body));

  function readFirst(body: Buffer): First {
    if (memo === undefined) return { page: parsePage(body) };
    const memoKey = memo.keyOf(body);
    const memoized = memo.get(memoKey);
    return memoized === undefined ? { page: parsePage(body), memoKey } : { memoized };
  }

  async function load(caller: Caller, account: LoadAccount, signal: AbortSignal, known?: Load): Promise<Load> {
    const loadedAt = now();
    const { own, restMs } = startStopwatch();

    function get<P>(request: Omit<PageRequest<P>, 'caller'>, pageSignal: AbortSignal): Promise<Reply<P>> {
      const read = (body: Buffer): P => {
        account.read(body.length);
        return own(() => request.read(body));
      };
      return upstream.get({ ...request, caller, read, hold: account.hold }, pageSignal);
    }

    async function fetchPage(furtherTarget: string, pageSignal: AbortSignal): Promise<Page & PageView> {
      const { page, headers } = await get({ target: furtherTarget, read: parsePage }, pageSignal);
      if (page === undefined) throw new Error('the upstream was asked about no entity tag');
      return { ...page, headers };
    }

    function tell(made: Memoized, pages: number): void {
      const { snapshot, dropped, defaulted } = made;
      events.listLoaded?.({ resource, upstream: upstream.name, pages, items: snapshot.count, dropped, defaulted });
    }

    async function loadPages(page: Page & PageView): Promise<Memoized & { readonly pages: number }> {
      const writer = createSnapshotWriter(loadedAt);
      const defaulted = new Map<string, number>();
      let pages = 0;
      let dropped = 0;
      for await (const each of paginate(list, page, fetchPage, signal)) {
        // Pages that were fetched ahead are ready at once: let other requests have their turn between them.
        if (pages > 0) await nextTurn();
        signal.throwIfAborted();
        own(() => {
          const mapped = map(each);
          writer.add(mapped.items);
          dropped += mapped.dropped;
          for (const [field, count] of mapped.defaulted) defaulted.set(field, (defaulted.get(field) ?? 0) + count);
        });
        pages += 1;
      }
      return { snapshot: own(() => writer.finish()), dropped, defaulted, pages };
    }

    const { page: first, headers } = await get({ target, ifNoneMatch: known?.upstreamEtag, read: readFirst }, signal);
    if (first === undefined) {
      if (known === undefined) throw new Error('the upstream was asked about no entity tag');
      return { ...known, snapshot: at(loadedAt, known), renewed: true, upstreamMs: restMs() };
    }
    if ('memoized' in first) {
      const { memoized } = first;
      tell(memoized, 1);
      const { dropped } = memoized;
      return { snapshot: at(loadedAt, memoized), dropped, pages: 1, upstreamMs: restMs(), ...tagged(headers) };
    }
    const { pages, ...made } = await loadPages({ ...first.page, headers });
    tell(made, pages);
    const { snapshot, dropped } = made;
    const loaded = { snapshot, upstreamMs: restMs(), pages, dropped };
    if (pages > 1 || !tellsItsEnd) return loaded;
    if (first.memoKey !== undefined) memo?.set(first.memoKey, made);
    return { ...loaded, ...tagged(headers) };
  }

  return async (caller, signal, { known } = {}) => {
    try {
      return await withDeadline(timeoutMs, signal, (deadline) =>
        loading.run({ upstream: upstream.name, maxReadBytes }, deadline, (account, ended) =>
          load(caller, account, ended, known),
        ),
      );
    } catch (error) {
      throw error instanceof GatewayError ? error.from(upstream.name) : error;
    }
  };
}

/** Whether a page's body itself says that no other follows: a total or a link in a header may change under its tag. */
function bodyTellsEnd(pagination: Pagination): boolean {
  const { kind } = pagination;
  return kind === 'none' || kind === 'token' || (kind === 'link' && pagination.next !== undefined);
}

/** The same snapshot, of a load that began at `loadedAt`. */
function at(loadedAt: number, { snapshot }: Pick<Memoized, 'snapshot'>): Memoized['snapshot'] {
  return Object.freeze({ ...snapshot, loadedAt });
}

/** The one entity tag that a page came with (RFC 9110, section 8.8.3), if it can be sent back as it is. */
function tagged({ etag }: PageView['headers']): Pick<Load, 'upstreamEtag'> {
  return typeof etag === 'string' && ENTITY_TAG.test(etag) ? { upstreamEtag: etag } : {};
}

interface Stopwatch {
  /** Does some work of our own, and takes its time. */
  own<T>(work: () => T): T;
  /** Milliseconds since the start that were not spent on work of our own. */
  restMs(): number;
}

function startStopwatch(): Stopwatch {
  const begun = performance.now();
  let ownMs = 0;
  return {
    own(work) {
      const start = performance.now();
      const result = work();
      ownMs += performance.now() - start;
      return result;
    },
    restMs: () => performance.now() - begun - ownMs,
  };
}
