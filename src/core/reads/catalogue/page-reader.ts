import { withAbort } from '../../kernel/deadline.ts';
import { GatewayError, type GatewayErrorFacts } from '../../kernel/errors.ts';
import { createTurnBudget } from '../../kernel/event-loop.ts';
import { excessOf } from '../../kernel/json-shape.ts';
import { compileExpression } from '../../mapping/expressions/expression.ts';
import {
  addCounts,
  createMapper,
  type Mapped,
  type MapperOptions,
  type MappingCounts,
  NO_COUNTS,
} from '../../mapping/mapper.ts';
import { createOverlooked } from '../../mapping/overlooked.ts';
import { createPageParser, type Page, type PageExpressions } from '../../mapping/page.ts';
import { bodyText } from '../../upstream/client/body.ts';
import {
  checkBounds,
  digestsOf,
  isWhole,
  type ListRequest,
  type PageSummary,
  summarize,
  textDigestsOf,
} from '../../upstream/paging/list-read.ts';
import type { Pagination } from '../../upstream/paging/page-address.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import { type EncodedItems, encodeItems } from '../snapshots/snapshot.ts';

export interface PageReaderOptions {
  readonly list: ListRequest;
  readonly maxPageValues: number;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page, from?: number, to?: number, isTrial?: boolean) => Mapped;
  /** Otherwise only whole items are compared. @default false */
  readonly idsAreUnique?: boolean;
  /** Describes a list that the items expression missed on an empty page. @default not checked */
  readonly overlooked?: (page: Page) => string | undefined;
}

interface PageReading {
  readonly body: Buffer;
  readonly headers: ReplyHeaders;
  /** The first page may be the whole list, and has no earlier page to compare with. */
  readonly first: boolean;
  /** Whether it belongs to an experiment, in which an invalid item counts, too. @default false */
  readonly isTrial?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called with the processing time of each step, in milliseconds. */
  readonly spend: (ms: number) => void;
}

export interface MappedPage extends PageSummary {
  readonly items: EncodedItems;
  readonly counts: MappingCounts;
  /** Digests of the ids of the items that are left; absent if the page is the whole list. */
  readonly keptIds: string | undefined;
}

/** Rejects with `upstream_invalid` for no page or unusable items, and with the signal's reason when it aborts first. */
export type ReadPage = (reading: PageReading) => Promise<MappedPage>;

/** A page of this size takes at most a few milliseconds and 2 MB. */
export const SMALL_BYTES = 65_536;

/** Items that are mapped in one step. */
const STEP_ITEMS = 1000;

/** Time for steps in one turn of the event loop; the last one may exceed it. */
const TURN_MS = 5;

/** Deeper than any platform's list, and within `JSON.stringify` on every Node. */
const MAX_LEVELS = 1000;

/** Shares the event loop among the pages of all lists. Of large pages, one is parsed and mapped at a time. */
export type PageTurns = ReturnType<typeof createPageTurns>;

export function createPageTurns() {
  const inBudget = createTurnBudget(TURN_MS);
  let free: Promise<unknown> = Promise.resolve();

  /** Runs the steps to their end, each in a turn that has time for it. */
  async function run<T>(steps: Generator<undefined, T>, { signal, spend }: PageReading): Promise<T> {
    for (;;) {
      const { done, value } = await inBudget(() => {
        signal.throwIfAborted();
        return steps.next();
      }, spend);
      if (done) return value as T;
    }
  }

  return <T>(steps: Generator<undefined, T>, reading: PageReading): Promise<T> => {
    if (reading.body.length <= SMALL_BYTES) return run(steps, reading);
    // A page that waits costs its bytes only: parsed, one of 2 MiB can take 60 MB of heap.
    return withAbort(reading.signal, () => {
      const ended = free.then(() => run(steps, reading));
      free = ended.catch(() => {});
      return ended;
    });
  };
}

/** Parses and maps the pages of one list. */
export function createPageReader(options: PageReaderOptions, inTurn: PageTurns): ReadPage {
  const { list, maxPageValues, parse, map, overlooked, idsAreUnique = false } = options;

  function* read({ body, headers, first, isTrial }: PageReading): Generator<undefined, MappedPage> {
    const isLarge = body.length > SMALL_BYTES;
    if (isLarge) checkShape(body, maxPageValues);
    const page = parse(bodyText(body));
    if (isLarge) yield;
    const view = summarize(list.pagination, { ...page, headers });
    checkBounds(list, { items: view.count });
    const items: Mapped['items'][number][] = [];
    const ids: Mapped['ids'][number][] = [];
    let counts = NO_COUNTS;
    for (let from = 0; from === 0 || from < page.items.length; from += STEP_ITEMS) {
      const to = Math.min(from + STEP_ITEMS, page.items.length);
      const { items: some, ids: all, ...counted } = map(page, from, to, isTrial);
      items.push(...some);
      ids.push(...all);
      counts = addCounts(counts, { ...counted, repeatedIds: 0 });
      if (isLarge) yield;
    }
    const compared = !(first && isWhole(list.pagination, view));
    const isAll = items.length === page.items.length;
    const repeatedIds = items.length - new Set(items.map(({ id }) => id)).size;
    const missed = page.items.length === 0 ? overlooked?.(page) : undefined;
    // With unique ids, a repeated item is a repeated id, and marking the id is cheaper.
    const comparesItems = compared && !(idsAreUnique && isAll);
    // With source texts of inexact numbers, so that items that differ beyond a double's precision differ.
    const digests = comparesItems ? digestsOf(page.exactItems() ?? page.items) : undefined;
    if (isLarge) yield;
    const textOfId = (id: string | undefined, index: number) => id ?? digestsOf([page.items[index]]);
    const idDigests = compared ? textDigestsOf(ids.map(textOfId)) : undefined;
    const keptIds = isAll || !compared ? idDigests : textDigestsOf(items.map(({ id = '' }) => id));
    if (isLarge) yield;
    return {
      ...view,
      items: encodeItems(items),
      counts: { ...counts, repeatedIds, overlooked: missed },
      digests,
      idsMayRepeat: !idsAreUnique,
      ids: idDigests,
      keptIds,
    };
  }

  return (reading) => inTurn(read(reading), reading);
}

/** Throws `upstream_invalid` for a body that takes unexpected time and memory. */
function checkShape(body: Buffer, maxPageValues: number): void {
  const excess = excessOf(body, {
    maxValues: maxPageValues,
    maxMembers: maxPageValues / 10,
    maxLevels: MAX_LEVELS,
  });
  if (excess === undefined) return;
  if (excess === 'levels') throw invalid({ reason: `the page nests deeper than ${MAX_LEVELS} levels` });
  throw invalid({ reason: 'the page has more values than maxPageValues', bound: 'maxPageValues' });
}

function invalid(facts: GatewayErrorFacts): GatewayError {
  return new GatewayError('upstream_invalid', facts);
}

/** Pagination before its expressions are compiled. */
type PaginationSettings<P = Pagination> = P extends Pagination
  ? { readonly [Key in keyof P]: Key extends 'next' | 'total' ? Extract<P[Key], undefined> | string : P[Key] }
  : never;

/** A list as settings have it, before its expressions are compiled. */
export interface ListSettings extends Omit<ListRequest, 'pagination' | 'post'>, MapperOptions, PageExpressions {
  readonly resource: string;
  readonly pagination: PaginationSettings;
  readonly maxPageValues: number;
  /** @default 'fail' */
  readonly duplicateIds?: 'fail' | 'allow';
}

/** Compiles the expressions of a list's settings. */
export function compileList(settings: ListSettings): PageReaderOptions {
  const map = createMapper(settings);
  return {
    list: { ...settings, pagination: compilePagination(settings.pagination) },
    maxPageValues: settings.maxPageValues,
    parse: createPageParser(settings),
    map,
    idsAreUnique: settings.duplicateIds !== 'allow',
    overlooked: createOverlooked({ ...settings, map }),
  };
}

function compilePagination(settings: PaginationSettings): Pagination {
  const compile = (expression: string | undefined) =>
    expression === undefined ? undefined : compileExpression(expression).evaluate;
  const total = compile(settings.total);
  if (settings.kind === 'token') return { ...settings, total, next: compileExpression(settings.next).evaluate };
  return settings.kind === 'link' ? { ...settings, total, next: compile(settings.next) } : { ...settings, total };
}
