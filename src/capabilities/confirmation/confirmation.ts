import { z } from 'zod';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Ask, Confirmation, ListEnd } from '../../core/upstream/paging/list-confirmation.ts';
import { mayRepeat } from '../../core/upstream/paging/list-read.ts';
import { firstAddress } from '../../core/upstream/paging/page-address.ts';
import { defineCapability } from '../capability.ts';
import { isFullPage } from './experiment.ts';
import { findMore } from './experiments.ts';

const DAY_MS = 86_400_000;
/** Lists of several parents that are confirmed although another one is as long: each may be exactly a page. */
const EQUAL_LISTS = 5;

interface Confirmed {
  readonly fingerprint: string;
  readonly at: number;
  readonly items: number;
  /** How many lists of this length were confirmed. */
  readonly lists: number;
  /** Whether the list was long enough to show anything. */
  readonly isConclusive: boolean;
}

/** Confirms by a few requests that lists are complete: once per resource after a start or a change of its settings, for longer lists, and daily. */
export const confirmation = defineCapability({
  settings: {
    key: 'confirmation',
    schema: z
      .strictObject({
        enabled: z
          .boolean()
          .default(true)
          .describe(
            'Whether the first list of each resource, each longer one, and one each day is followed by requests that show whether it is complete.',
          ),
      })
      .prefault({})
      .describe('Confirmation that lists are complete.'),
  },
  purposes: ['serve', 'stdio', 'probe'],
  open({ enabled }, { now }) {
    return enabled ? { openConfirmation: createConfirmations(now) } : undefined;
  },
});

/** State by list, which outlives reloads. */
export function createConfirmations(now: () => number) {
  const confirmed = new Map<string, Confirmed>();
  /** Settled with the error of a list that is not complete. */
  const running = new Map<string, Promise<GatewayError | undefined>>();

  return (resource: string, fingerprint: string): Confirmation => {
    const lastOf = () => {
      const last = confirmed.get(resource);
      return last?.fingerprint === fingerprint && now() - last.at < DAY_MS ? last : undefined;
    };
    return {
      isDue: () => lastOf()?.isConclusive !== true,
      async confirm(end: ListEnd, ask: Ask, isOneOfMany = false) {
        const { items, list } = end;
        if (list.pagination.ignoreSigns?.includes('fullPage')) return;
        for (let last = lastOf(), other = running.get(resource); ; last = lastOf(), other = running.get(resource)) {
          // A platform may cut only a list that is longer than those before.
          const isMore = isOneOfMany ? isLongest : isLonger;
          if (last !== undefined && !isMore(items, last)) return;
          if (other === undefined) break;
          // Another caller's list, or that of another parent: if it is not complete, settings are wrong for this one, too.
          const error = await other;
          if (error !== undefined) throw error;
        }
        const { promise, resolve } = Promise.withResolvers<GatewayError | undefined>();
        running.set(resource, promise);
        try {
          const last = lastOf();
          const lists = last?.items === items ? last.lists + 1 : 1;
          const isConclusive = await isShown(end, ask);
          confirmed.set(resource, { fingerprint, at: now(), items, lists, isConclusive });
        } catch (error) {
          if (error instanceof GatewayError && error.code === 'upstream_invalid') resolve(error);
          throw error;
        } finally {
          resolve(undefined);
          running.delete(resource);
        }
      },
    };
  };
}

function isLonger(items: number, last: Confirmed): boolean {
  return items > last.items;
}

/** Whether a list is the longest of several parents so far: a page that cuts any of them has its length. */
function isLongest(items: number, last: Confirmed): boolean {
  return items > last.items || (items === last.items && last.lists < EQUAL_LISTS);
}

/** A page that was not due when it was read, and was the whole list, has no ids. */
async function withIds(end: ListEnd, ask: Ask): Promise<ListEnd> {
  if (end.first.ids !== undefined || !mayRepeat(end.list)) return end;
  const page = await ask(firstAddress(end.list));
  const { count, ids = '' } = page;
  return { ...end, first: page, last: page, items: count, lastPageCount: count, lastPageIds: ids };
}

/** A platform that fails or takes too long is not asked again before the next day, unless the page is exactly as long as asked. */
async function isShown(end: ListEnd, ask: Ask): Promise<boolean> {
  let failed: unknown;
  const watched: Ask = async (address) => {
    try {
      return await ask(address);
    } catch (error) {
      failed = error;
      throw error;
    }
  };
  try {
    return await findMore(await withIds(end, watched), watched);
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    if (error === failed && (isLate || error instanceof GatewayError) && !isFullPage(end)) return true;
    throw error;
  }
}
