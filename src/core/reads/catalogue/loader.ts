import { during } from '../../../capabilities/tracing/during.ts';
import { type Caller, under } from '../../kernel/caller.ts';
import { codeOf } from '../../kernel/causes.ts';
import { withDeadline } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { requestOf } from '../../kernel/trace.ts';
import { addCounts, findingsOf, type MappingCounts, NO_COUNTS } from '../../mapping/findings.ts';
import type { LoadAccount, Loading } from '../../upstream/loading.ts';
import type { ListRequest } from '../../upstream/pagination/list-read.ts';
import { firstTarget, paginate } from '../../upstream/pagination/paginate.ts';
import type { PageRequest, PageTarget, Reply, ReplyHeaders, Upstream } from '../../upstream/upstream.ts';
import type { Load, Loader } from '../snapshots/load.ts';
import type { Memo, Memoized } from '../snapshots/memo.ts';
import { createSnapshotWriter } from '../snapshots/snapshot.ts';
import { createDistinctIds } from './distinct-ids.ts';
import { bodyTellsEnd, NOTHING_SAID, saidOf, tagged } from './first-page.ts';
import { checkIds, checkList, type ListRules } from './list-verdict.ts';
import type { ReadPage } from './page-desk.ts';
import type { MappedPage } from './page-reader.ts';

export interface LoaderOptions {
  /** Name of the resource, as events tell it. */
  readonly resource: string;
  readonly upstream: Upstream;
  readonly list: ListRequest;
  readonly readPage: ReadPage;
  /** Deadline of one read, all pages included. */
  readonly timeoutMs: number;
  /** Bytes of one read, all its pages together, decoded. */
  readonly maxReadBytes: number;
  /** All loads under way, of this resource and others. */
  readonly loading: Loading;
  /** @default those of each */
  readonly rules?: ListRules;
  /** Spares the work on what an upstream has sent before. */
  readonly memo?: Memo<Made> | undefined;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What was made of a list. */
export interface Made extends Memoized {
  readonly counts: MappingCounts;
}

/** What the body of the first page comes to: a page, or what was made of the same body before. */
type First =
  | { readonly page: MappedPage | GatewayError; readonly memoKey?: string | undefined }
  | { readonly memoized: Made };

/**
 * Loads a list page by page, and makes one snapshot of it. The first page is asked for before the others are thought of: its
 * response may say that the whole list is what it was.
 */
export function createLoader(options: LoaderOptions): Loader {
  const { resource, upstream, timeoutMs, list, readPage, maxReadBytes, rules = {}, loading, events, now } = options;
  const firstPage = firstTarget(list);
  const path = pathOf(firstPage.target);
  // Only where its body tells the end of the list may a first page be all of it, whatever came with the body.
  const tellsItsEnd = bodyTellsEnd(list.pagination);
  const memo = tellsItsEnd ? options.memo : undefined;

  async function load(caller: Caller, account: LoadAccount, signal: AbortSignal, known?: Load): Promise<Load> {
    const loadedAt = now();
    const { own, spend, restMs } = startStopwatch();

    function get<P>(request: Omit<PageRequest<P>, 'caller'>, pageSignal: AbortSignal): Promise<Reply<P>> {
      const read: PageRequest<P>['read'] = (body, headers) => {
        account.read(body.length);
        return request.read(body, headers);
      };
      const span = caller.span?.begin('page', { resource, upstream: upstream.name });
      const asked = { ...request, path, headers: list.headers, caller: under(caller, span), read, hold: account.hold };
      return during(span, pageSignal, () => upstream.get(asked, pageSignal));
    }

    async function readFirst(body: Buffer, headers: ReplyHeaders): Promise<First> {
      // The same body may come with another header that says that there is more.
      const memoKey = memo && own(() => `${memo.keyOf(body)} ${saidOf(headers)}`);
      const memoized = memoKey === undefined ? undefined : memo?.get(memoKey);
      if (memoized !== undefined) return { memoized };
      return { page: await readPage({ body, headers, first: true, signal, spend }), memoKey };
    }

    async function fetchPage(target: PageTarget, pageSignal: AbortSignal): Promise<MappedPage> {
      const read = (body: Buffer, headers: ReplyHeaders) =>
        readPage({ body, headers, first: false, signal: pageSignal, spend });
      const { page } = await get({ ...target, read }, pageSignal);
      if (page === undefined) throw new Error('the upstream was asked about no entity tag');
      return orThrow(page);
    }

    function tell({ snapshot, counts }: Made, pages: number): void {
      const { received, excluded, dropped, defaulted } = counts;
      const loaded = { resource, upstream: upstream.name, pages, items: snapshot.count };
      events.listLoaded?.({ ...loaded, received, excluded, dropped, defaulted });
      for (const finding of findingsOf(counts)) {
        events.mappingDoubted?.({ resource, upstream: upstream.name, field: undefined, ...finding });
      }
    }

    async function loadPages(page: MappedPage): Promise<Made & { readonly pages: number }> {
      const writer = createSnapshotWriter(loadedAt);
      const repeatedIn = createDistinctIds();
      let counts = NO_COUNTS;
      let pages = 0;
      for await (const each of paginate(list, page, fetchPage, signal)) {
        signal.throwIfAborted();
        const repeatedIds = await repeatedIn(each);
        own(() => {
          writer.add(each.items);
          counts = addCounts(counts, { ...each.counts, repeatedIds });
        });
        checkIds(resource, rules, counts);
        pages += 1;
      }
      checkList(resource, rules, counts);
      return { snapshot: await writer.finishInSteps(), counts, pages };
    }

    const asked = await get({ ...firstPage, ifNoneMatch: known?.upstreamEtag, read: readFirst }, signal);
    const { page: first, headers } = asked;
    if (first === undefined) {
      if (known === undefined) throw new Error('the upstream was asked about no entity tag');
      // The page is what it was, and yet it may not be all of the list any more.
      if (![NOTHING_SAID, known.upstreamSaid].includes(saidOf(headers))) return load(caller, account, signal);
      return { ...known, snapshot: at(loadedAt, known), renewed: true, upstreamMs: restMs() };
    }
    if ('memoized' in first) {
      const { memoized } = first;
      tell(memoized, 1);
      const { dropped } = memoized.counts;
      return { snapshot: at(loadedAt, memoized), dropped, pages: 1, upstreamMs: restMs(), ...tagged(list, headers) };
    }
    const { pages, ...made } = await loadPages(orThrow(first.page));
    tell(made, pages);
    const loaded = { snapshot: made.snapshot, upstreamMs: restMs(), pages, dropped: made.counts.dropped };
    if (pages > 1 || !tellsItsEnd) return loaded;
    if (first.memoKey !== undefined) memo?.set(first.memoKey, made);
    return { ...loaded, ...tagged(list, headers) };
  }

  return async (caller, signal, { known } = {}) => {
    const begun = performance.now();
    const tellEnd = (why?: { readonly error: string; readonly reason: string | undefined }) =>
      events.loadEnded?.({ resource, upstream: upstream.name, ms: performance.now() - begun, ...why });
    try {
      const loaded = await withDeadline(timeoutMs, signal, (deadline) =>
        loading.run({ maxReadBytes }, deadline, (account, ended) => load(caller, account, ended, known)),
      );
      tellEnd();
      return loaded;
    } catch (error) {
      tellEnd({ error: codeOf(error, signal), reason: error instanceof GatewayError ? error.reason : undefined });
      if (!(error instanceof GatewayError)) throw error;
      const { bound } = error;
      if (bound !== undefined) events.boundReached?.({ ...requestOf(caller), bound, upstream: upstream.name });
      throw error.from(upstream.name);
    }
  };
}

/** Path of a target, without its query. */
function pathOf(target: string): string {
  return target.split('?', 1).join();
}

function orThrow(page: MappedPage | GatewayError): MappedPage {
  if (page instanceof GatewayError) throw page;
  return page;
}

/** The same snapshot, of a load that began at `loadedAt`. */
function at(loadedAt: number, { snapshot }: Pick<Memoized, 'snapshot'>): Memoized['snapshot'] {
  return Object.freeze({ ...snapshot, loadedAt });
}

interface Stopwatch {
  /** Does some work of our own, and takes its time. */
  own<T>(work: () => T): T;
  /** Takes account of work of our own that was done elsewhere, in milliseconds. */
  spend(ms: number): void;
  /** Milliseconds since the start that were not spent on work of our own. */
  restMs(): number;
}

function startStopwatch(): Stopwatch {
  const begun = performance.now();
  let ownMs = 0;
  const spend = (ms: number) => {
    ownMs += ms;
  };
  return {
    own(work) {
      const start = performance.now();
      const result = work();
      spend(performance.now() - start);
      return result;
    },
    spend,
    restMs: () => performance.now() - begun - ownMs,
  };
}
