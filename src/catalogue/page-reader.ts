import { GatewayError } from '../kernel/errors.ts';
import { excessOf } from '../kernel/json-shape.ts';
import { addCounts, type MappingCounts, NO_COUNTS } from '../mapping/findings.ts';
import type { Mapped } from '../mapping/mapper.ts';
import type { Page } from '../mapping/page.ts';
import { type EncodedItems, encodeItems } from '../snapshots/snapshot.ts';
import { textOf } from '../upstream/client/body.ts';
import { checkBounds, isWhole, type ListRequest, type PageView, viewOf } from '../upstream/pagination/list-read.ts';
import { digestOf } from '../upstream/pagination/repeats.ts';
import type { ReplyHeaders } from '../upstream/upstream.ts';
import { type PageTurns, SMALL_BYTES, type Step } from './page-turns.ts';

export interface PageReaderOptions {
  readonly list: ListRequest;
  /** Objects, lists and members of one page, roughly; more is an error. */
  readonly maxPageValues: number;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page, from: number, to: number) => Mapped;
  readonly turns: PageTurns;
}

/** A page, mapped: what is left of it once nobody needs its body any more. */
export interface MappedPage extends PageView {
  readonly items: readonly EncodedItems[];
  readonly counts: MappingCounts;
}

/** One reading of a page. */
export interface PageReading {
  readonly body: Buffer;
  readonly headers: ReplyHeaders;
  /** Whether it is the first page: then it may be all of the list, and need not be compared with others. */
  readonly first: boolean;
  readonly signal: AbortSignal;
  /** Does some work, and takes its time. */
  readonly own: <T>(work: () => T) => T;
}

/**
 * A page, or why a list cannot be made of it. Rejects with `upstream_invalid` where it is no page; what is wrong with a
 * page's items, or with what it says of the list, says nothing about whether the upstream is well.
 */
export type ReadPage = (reading: PageReading) => Promise<MappedPage | GatewayError>;

/** Items of one step. */
const SLICE = 200;

/**
 * Parses a page, and does all that its parsed body is needed for, so that this need not be kept: other pages are waited for
 * meanwhile, and one of 2 MiB may take 60 MB of the heap.
 */
export function createPageReader({ list, maxPageValues, parse, map, turns }: PageReaderOptions): ReadPage {
  async function work({ body, headers, first }: PageReading, step: Step): Promise<MappedPage | GatewayError> {
    if (body.length > SMALL_BYTES) await step(() => checkShape(body, maxPageValues));
    const page = await step(() => parse(textOf(body)));
    try {
      const view = await step(() => viewOf(list.pagination, { ...page, headers }));
      const { count } = view;
      checkBounds(list, { items: count });
      const items: EncodedItems[] = [];
      let counts = NO_COUNTS;
      for (let from = 0; from < count; from += SLICE) {
        await step(() => {
          const { items: slice, ...its } = map(page, from, Math.min(from + SLICE, count));
          items.push(encodeItems(slice));
          counts = addCounts(counts, its);
        });
      }
      const compared = !(first && isWhole(list.pagination, view));
      return { ...view, items, counts, digests: compared ? await digestsOf(page, step) : undefined };
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'upstream_invalid') return error;
      throw error;
    }
  }

  return (reading) =>
    turns.run(reading.body.length, reading.signal, (step) => work(reading, (piece) => step(() => reading.own(piece))));
}

/** Deeper than any list of a platform, and no deeper than `JSON.stringify` of any Node gets. */
const MAX_LEVELS = 1000;

/** Throws `upstream_invalid` for a body whose parsing would take more time and memory than its bytes let expect. */
function checkShape(body: Buffer, maxPageValues: number): void {
  const excess = excessOf(body, { maxValues: maxPageValues, maxLevels: MAX_LEVELS });
  if (excess === undefined) return;
  const reason = {
    values: 'the page holds more values than maxPageValues',
    levels: `the page nests deeper than ${MAX_LEVELS} levels`,
  }[excess];
  throw new GatewayError('upstream_invalid', { reason });
}

/**
 * With the source text of each number that does not print as it was written, so that items that differ only beyond the
 * precision of a double are told apart.
 */
async function digestsOf(page: Page, step: Step): Promise<string[]> {
  const items = (await step(() => page.exactItems())) ?? page.items;
  const digests: string[] = [];
  for (let from = 0; from < items.length; from += SLICE) {
    await step(() => {
      for (const item of items.slice(from, from + SLICE)) digests.push(digestOf(item));
    });
  }
  return digests;
}
