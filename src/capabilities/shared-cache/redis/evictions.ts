import type { Events } from '../../../core/kernel/events.ts';
import type { Connection } from './connection.ts';
import type { Naming } from './names.ts';
import { newWord } from './new-word.ts';
import { END, EVICT, HEAR, STREAM_ID, TELL } from './scripts.ts';

type Ask = Connection['ask'];

export interface EvictionsOptions {
  readonly naming: Naming;
  readonly ask: Ask;
  readonly events: Events;
  /** Names at most that wait to be evicted. @default 100,000 */
  readonly maxWaiting?: number | undefined;
  /** Milliseconds of a clock that never goes back. @default `performance.now` */
  readonly clock?: () => number;
}

export type EvictedListener = (names: readonly string[] | 'unknown') => void;

/** What is evicted here and by others. */
export interface Evictions {
  /** Resolves once it is done, or was tried and will be tried again. */
  evict(names: readonly string[]): Promise<void>;
  onEvicted(listener: EvictedListener): () => void;
  /**
   * Does what could not be done so far, then hears what others have evicted. Resolves with whether all of it went well: as
   * long as it did not, nothing may be taken from the store. `unsteady`: some were missed again and again, so that nobody is told
   * of it for now.
   */
  look(ask: Ask): Promise<boolean | 'unsteady'>;
}

/** Names of one step, and of how many the first is where they stand in several places. */
const STEP = 100;
const SEARCHED = 1000;
/** Steps that Redis keeps for whoever was away, about so many: 11 MB, if there were as many names in each as may be. */
const KEPT = 2000;
/** Evictions that are heard in one step, and steps of one look: more than there are of those that are kept. */
const HEARD = 64;
const HEARD_STEPS = 1000;
/** Times at once that some may have been missed, and how long until it may be once more: each has all replicas let go of everything. */
const MISSED = 3;
const MISSED_MS = 20_000;
/** What the names of one step take at most: names are 43 characters long. */
const MAX_TEXT = STEP * 64;

/** Until where evictions were heard. */
interface Place {
  readonly life: string;
  /** How many were ever told. */
  readonly told: number;
  /** The last of them. */
  readonly last: string;
}

export function createEvictions(options: EvictionsOptions): Evictions {
  const { naming, ask, events, maxWaiting = 100_000, clock = () => performance.now() } = options;
  const me = newWord();
  const listeners = new Set<EvictedListener>();
  /** By name, the last eviction of it that is not done yet. */
  const waiting = new Map<string, object>();
  let isOverflown = false;
  let telling: Promise<boolean> | undefined;
  let place: Place | undefined;
  /** Until when what was missed so far counts. */
  let missedUntil = 0;

  /** Whether so much may be missed now; then it was. */
  function mayMiss(): boolean {
    if (missedUntil - clock() > (MISSED - 1) * MISSED_MS) return false;
    missedUntil = Math.max(missedUntil, clock()) + MISSED_MS;
    return true;
  }

  /** Names that stand together. */
  function nextStep(): [string, object][] {
    const step: [string, object][] = [];
    let searched = 0;
    for (const each of waiting) {
      const [[first] = each] = step;
      if (naming.bucketOf(each[0]) === naming.bucketOf(first)) step.push(each);
      searched += 1;
      if (step.length === STEP || searched === SEARCHED) break;
    }
    return step;
  }

  async function isDone(asked: ReturnType<Ask>): Promise<boolean> {
    return (await asked).said === 'ok';
  }

  async function tellWaiting(by: Ask): Promise<boolean> {
    while (isOverflown) {
      isOverflown = false;
      for (const life of naming.lives) {
        if (await isDone(by({ script: END, keys: [life], args: [] }))) continue;
        isOverflown = true;
        return false;
      }
    }
    while (waiting.size > 0) {
      const step = nextStep();
      const names = step.map(([name]) => name);
      const all = names.map(naming.keysOf);
      const keys = [...new Set(all.map(({ life }) => life)), ...all.flatMap(({ value, lease }) => [value, lease])];
      const args = [newWord(), ...new Set(all.map(({ generation }) => generation))];
      const evicted = await isDone(by({ script: EVICT, keys, args }));
      const told =
        evicted && (await isDone(by({ script: TELL, keys: [naming.evictions], args: [me, names.join(' '), KEPT] })));
      if (!told) return false;
      events.sharedEvictionsTold?.({ names: names.length });
      // One that came meanwhile is of a load that may have begun since.
      for (const [name, eviction] of step) if (waiting.get(name) === eviction) waiting.delete(name);
    }
    return true;
  }

  /** One at a time, which tells what comes meanwhile, too. */
  function tell(by: Ask): Promise<boolean> {
    telling ??= tellWaiting(by).finally(() => {
      telling = undefined;
    });
    return telling;
  }

  function tellListeners(names: readonly string[] | 'unknown'): void {
    events.sharedEvictionsHeard?.({ names: names === 'unknown' ? undefined : names.length });
    for (const listener of listeners) listener(names);
  }

  async function hear(by: Ask): ReturnType<Evictions['look']> {
    for (let step = 0; step < HEARD_STEPS; step += 1) {
      const args = [newWord(), place?.last ?? '', HEARD];
      const answer = await by({ script: HEAR, keys: [naming.lifeOf(0), naming.evictions], args });
      if (answer.said !== 'ok') return false;
      const [life, told, last, unheard] = answer.more;
      const heard = evictionsIn(unheard);
      if (heard === undefined || !STREAM_ID.test(String(last))) return false;
      const now: Place = { life: String(life), told: Number(told), last: String(last) };
      const before = place;
      const reached = (before?.told ?? 0) + heard.length;
      const hasMore = heard.length === HEARD && reached < now.told;
      if (before !== undefined && (before.life !== now.life || (!hasMore && reached !== now.told))) {
        if (!mayMiss()) return 'unsteady';
        place = now;
        tellListeners('unknown');
        return true;
      }
      place = hasMore ? { ...now, told: reached, last: heard.at(-1)?.id ?? now.last } : now;
      // Whoever has heard nothing yet has taken nothing yet.
      if (before === undefined) return true;
      const names = heard.flatMap(({ from, names }) => (from === me ? [] : names));
      if (names.length > 0) tellListeners(names);
      if (!hasMore) return true;
    }
    return false;
  }

  return {
    async evict(names) {
      for (const name of names) waiting.set(name, {});
      if (waiting.size > maxWaiting) {
        // Which ones is forgotten: so nothing counts any more that was put so far.
        waiting.clear();
        isOverflown = true;
      }
      await tell(ask);
    },
    onEvicted(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    look: async (by) => (await tell(by)) && (await hear(by)),
  };
}

interface Eviction {
  readonly id: string;
  readonly from: string;
  readonly names: readonly string[];
}

/** Entries of the stream, each its id and its fields; `undefined` where one is something else. */
function evictionsIn(entries: unknown): Eviction[] | undefined {
  if (!Array.isArray(entries) || entries.length > HEARD) return undefined;
  const evictions: Eviction[] = [];
  for (const entry of entries) {
    const [id, fields] = Array.isArray(entry) ? entry : [];
    if (!Array.isArray(fields) || !STREAM_ID.test(String(id))) return undefined;
    const [, from, , names] = fields;
    if (!Buffer.isBuffer(names) || names.length > MAX_TEXT) return undefined;
    evictions.push({ id: String(id), from: String(from), names: names.toString('latin1').split(' ', STEP) });
  }
  return evictions;
}
