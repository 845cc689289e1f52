import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../kernel/caller.ts';
import { withDeadline } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Mapped } from '../mapping/mapper.ts';
import type { Page } from '../mapping/page.ts';
import type { Load, Loader } from '../snapshots/load.ts';
import type { Made, Memory } from '../snapshots/memory.ts';
import { createSnapshotWriter } from '../snapshots/snapshot-writer.ts';
import { type ListRequest, type PageView, paginate } from '../upstream/pagination/paginate.ts';
import type { Pagination } from '../upstream/pagination/pagination.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { startStopwatch } from './stopwatch.ts';

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;

export interface LoaderOptions {
  readonly upstream: Upstream;
  /** Deadline of one read, all pages included. */
  readonly timeoutMs: number;
  readonly list: ListRequest;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page) => Mapped;
  /** Spares the work on what an upstream has sent before. */
  readonly memory?: Memory | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What the body of an answer was read as: a page, or what was made of the same body before. */
type Read = { readonly page: Page; readonly name?: string | undefined } | { readonly made: Made };

/** One answer. */
type Fetched = Page &
  PageView & {
    /** The whole list, where the answer said no more than that. */
    readonly whole?: Omit<Load, 'upstreamMs'>;
    /** Name of its content in the memory. */
    readonly name?: string | undefined;
  };

const NO_PAGE: Page = { body: null, items: [], exactItems: () => undefined };

export function createLoader({ upstream, timeoutMs, list, parse, map, memory, now }: LoaderOptions): Loader {
  const tellsItsEnd = bodyTellsEnd(list.pagination);

  /** Only where its body tells the end of the list may a first page be all of it, whatever came with the body. */
  function readFirst(text: string): Read {
    if (memory === undefined || !tellsItsEnd) return { page: parse(text) };
    const name = memory.nameOf(text);
    const made = memory.recall(name);
    return made === undefined ? { page: parse(text), name } : { made };
  }

  async function load(caller: Caller, signal: AbortSignal, known?: Load): Promise<Load> {
    const loadedAt = now();
    const { own, restMs } = startStopwatch();
    const writer = createSnapshotWriter(loadedAt);
    let asked = 0;
    let pages = 0;
    let dropped = 0;
    let first: Fetched | undefined;

    async function fetchPage(target: string, pageSignal: AbortSignal): Promise<Fetched> {
      asked += 1;
      const ifNoneMatch = asked === 1 ? known?.upstreamEtag : undefined;
      const readPage: (text: string) => Read = asked === 1 ? readFirst : (text) => ({ page: parse(text) });
      const request = { target, caller, ifNoneMatch, read: (text: string) => own(() => readPage(text)) };
      const { page: answer, headers } = await upstream.get(request, pageSignal);
      if (answer === undefined) return { ...NO_PAGE, headers, ...(known && { whole: { ...known, renewed: true } }) };
      if ('made' in answer) return { ...NO_PAGE, headers, whole: { ...answer.made, pages: 1, ...tagged(headers) } };
      return { ...answer.page, headers, name: answer.name };
    }

    for await (const page of paginate(list, fetchPage, signal)) {
      const { whole } = page;
      if (whole !== undefined) {
        return { ...whole, snapshot: Object.freeze({ ...whole.snapshot, loadedAt }), upstreamMs: restMs() };
      }
      // Pages that were fetched ahead are ready at once: let other requests have their turn between them.
      if (pages > 0) await nextTurn();
      signal.throwIfAborted();
      own(() => {
        const mapped = map(page);
        writer.add(mapped.items);
        dropped += mapped.dropped;
      });
      pages += 1;
      first ??= page;
    }
    const snapshot = own(() => writer.finish());
    const loaded = { snapshot, upstreamMs: restMs(), pages, dropped };
    if (pages > 1 || first === undefined || !tellsItsEnd) return loaded;
    if (first.name !== undefined) memory?.keep(first.name, { snapshot, dropped });
    return { ...loaded, ...tagged(first.headers) };
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
function bodyTellsEnd(pagination: Pagination): boolean {
  const { kind } = pagination;
  return kind === 'none' || kind === 'token' || (kind === 'link' && pagination.next !== undefined);
}

/** The one entity tag that a page came with (RFC 9110, section 8.8.3), if it can be sent back as it is. */
function tagged({ etag }: PageView['headers']): Pick<Load, 'upstreamEtag'> {
  return typeof etag === 'string' && ENTITY_TAG.test(etag) ? { upstreamEtag: etag } : {};
}
