import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { MappingFinding } from '../../kernel/events.ts';
import { addCounts, type MappingCounts, NO_COUNTS } from '../../mapping/mapper.ts';
import type { LoadAccount } from '../../upstream/loading.ts';
import { type Confirmation, NO_CONFIRMATION } from '../../upstream/paging/list-confirmation.ts';
import type { ListRequest } from '../../upstream/paging/list-read.ts';
import { firstTarget, paginate } from '../../upstream/paging/paginate.ts';
import type { LoadTiming, PageRequest, PageTarget, Reply, ReplyHeaders, Upstream } from '../../upstream/upstream.ts';
import type { Load, Loader } from '../snapshots/load.ts';
import { type EncodedItems, joinPages, type Snapshot } from '../snapshots/snapshot.ts';
import { createBoundedLoader, type LoaderBounds } from './bounded-loader.ts';
import { checkIds, checkList, createDistinctIds, type ListRules } from './list-checks.ts';
import type { MappedPage, ReadPage } from './page-reader.ts';
import { bodyShowsEnd, createReplyMemo, headerSigns, type MappedReply, tagged } from './reply-reuse.ts';

export interface LoaderOptions extends LoaderBounds {
  readonly upstream: Upstream;
  readonly list: ListRequest;
  readonly readPage: ReadPage;
  readonly rules: ListRules;
  /** @default lists are taken for complete */
  readonly confirmation?: Confirmation | undefined;
  readonly compare: (cacheScope: string, counts: MappingCounts) => readonly MappingFinding[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A page, or the reused result of an identical body. */
type First = { readonly page: MappedPage; readonly body: Buffer } | { readonly made: MappedReply };

/** Loads a list page by page. The first page is requested alone, because its reply may show that the list is unchanged. */
export function createLoader(options: LoaderOptions): Loader {
  const { resource, upstream, list, readPage, rules, compare, events, now } = options;
  const { confirmation = NO_CONFIRMATION } = options;
  const firstPage = firstTarget(list);
  const [path] = firstPage.target.split('?', 1);
  // A first page is the whole list only if its body shows the end, whatever its headers are.
  const showsEnd = bodyShowsEnd(list.pagination);
  const memo = showsEnd ? createReplyMemo() : undefined;

  async function load(
    caller: Caller,
    account: LoadAccount,
    signal: AbortSignal,
    timing: LoadTiming,
    previous?: Load,
  ): Promise<Load> {
    const loadStartedAt = now();
    const isDue = confirmation.isDue();
    const startedAt = performance.now();
    let ownMs = 0;
    const spend = (ms: number) => {
      ownMs += ms;
    };
    const upstreamMs = () => performance.now() - startedAt - ownMs;
    const loadedNow = ({ snapshot }: { readonly snapshot: Snapshot }): Snapshot =>
      Object.freeze({ ...snapshot, loadStartedAt, receivedAt: now() });

    function get<P>(request: Omit<PageRequest<P>, 'caller' | 'load'>, pageSignal: AbortSignal): Promise<Reply<P>> {
      const read: PageRequest<P>['read'] = (body, headers) => {
        account.read(body.length);
        return request.read(body, headers);
      };
      const { hold } = account;
      return upstream.get({ ...request, path, caller, load: timing, read, hold }, pageSignal);
    }

    async function readFirst(body: Buffer, headers: ReplyHeaders): Promise<First> {
      // An identical body can have another header that shows more items.
      const made = isDue ? undefined : memo?.get(body, headerSigns(headers));
      return made === undefined
        ? { page: await readPage({ body, headers, first: !isDue, signal, spend }), body }
        : { made };
    }

    async function fetchPage(target: PageTarget, pageSignal: AbortSignal, isTrial?: boolean): Promise<MappedPage> {
      const read = (body: Buffer, headers: ReplyHeaders) =>
        readPage({ body, headers, first: false, isTrial, signal: pageSignal, spend });
      const { page } = await get({ ...target, read }, pageSignal);
      if (page === undefined) throw new Error('the request had no If-None-Match');
      return page;
    }

    function emitLoaded({ snapshot, counts }: MappedReply, pages: number): void {
      const { received, excluded, dropped, fields } = counts;
      const times = [...fields].map(([name, of]) => [name, of.defaulted] as const);
      const defaulted = new Map(times.filter(([, count]) => count > 0));
      const list = { resource, upstream: upstream.name };
      events.listLoaded?.({ ...list, pages, items: snapshot.count, received, excluded, dropped, defaulted });
      for (const finding of compare(caller.cacheScope, counts)) events.mappingWarning?.({ ...list, ...finding });
    }

    async function loadPages(first: MappedPage, body: Buffer, headers: ReplyHeaders) {
      const repeatedIn = createDistinctIds();
      let counts = NO_COUNTS;
      const pages: EncodedItems[] = [];
      for await (const each of paginate(list, first, fetchPage, signal, { confirm })) {
        signal.throwIfAborted();
        const repeatedIds = await repeatedIn(each);
        pages.push(each.items);
        counts = addCounts(counts, { ...each.counts, repeatedIds });
        checkIds(resource, rules, counts);
      }
      checkList(resource, rules, counts);
      const made: MappedReply = { snapshot: await joinPages(pages, loadStartedAt), counts };
      if (pages.length === 1) memo?.set(body, headerSigns(headers), made);
      return { made, pages: pages.length };
    }

    // The list was read: what confirms it may take half of the time that is left.
    const confirm: Confirmation['confirm'] = (end, ask) => {
      let until: AbortSignal | undefined;
      return confirmation.confirm(end, (address) => {
        const halfMs = Math.max(1, Math.ceil((timing.dueAt - performance.now()) / 2));
        until ??= AbortSignal.any([signal, AbortSignal.timeout(halfMs)]);
        return ask(address, until);
      });
    };

    const request = { ...firstPage, ifNoneMatch: isDue ? undefined : previous?.upstreamEtag, read: readFirst };
    const reply = await get(request, signal).catch(async (error: unknown): Promise<Reply<First>> => {
      const isEmpty = rules.notFound === 'empty' && error instanceof GatewayError && error.upstreamStatus === 404;
      if (!isEmpty) throw error;
      return { page: await readFirst(Buffer.alloc(0), {}), headers: {} };
    });
    const { page: first, headers } = reply;
    if (first === undefined) {
      if (previous === undefined) throw new Error('the request had no If-None-Match');
      // The page is unchanged, but may no longer be the whole list.
      if (headerSigns(headers) !== '') return load(caller, account, signal, timing);
      return { ...previous, snapshot: loadedNow(previous), notModified: true, upstreamMs: upstreamMs() };
    }
    const { made, pages } = 'made' in first ? { ...first, pages: 1 } : await loadPages(first.page, first.body, headers);
    emitLoaded(made, pages);
    const { excluded, dropped } = made.counts;
    const loaded = { snapshot: loadedNow(made), upstreamMs: upstreamMs(), pages, excluded, dropped };
    return pages === 1 && showsEnd ? { ...loaded, ...tagged(list, headers) } : loaded;
  }

  return createBoundedLoader(options, upstream.name, async ({ caller, dueAt, account, signal, previous }) => {
    const timing: LoadTiming = { dueAt };
    const loaded = await load(caller, account, signal, timing, previous);
    timing.onLoaded?.(timing);
    return loaded;
  });
}
