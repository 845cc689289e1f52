import type { Events } from '../../../core/kernel/events.ts';
import type { Connection } from './connection.ts';
import type { Naming } from './names.ts';
import { newWord } from './new-word.ts';
import { STREAM_ID, WARN } from './scripts.ts';

type Ask = Connection['ask'];

export interface RejectionsOptions {
  readonly naming: Naming;
  readonly events: Events;
}

export type RejectionsListener = (sealed: readonly string[]) => void;

/** Rejections of credentials that replicas tell each other, sealed: what is in them is nothing to Redis, nor to this floor. */
export interface Rejections {
  /** Tells it at the next look; where Redis is away for long, never. */
  tell(sealed: string): void;
  onTold(listener: RejectionsListener): () => void;
  /** Tells what waits for that, then hears what others have told. It does not matter whether that goes well. */
  look(ask: Ask): Promise<void>;
}

/** Those that wait to be told, at most: the oldest, which help least, make room. */
const WAITING = 1000;
/** Those that are told in one step, and steps that are heard in one. */
const STEP = 100;
const HEARD = 64;
/** Steps of one look, at most. */
const STEPS = 10;
/** Longest text of a step that is taken. */
const MAX_TEXT = STEP * 512;
/** Steps that Redis keeps, about so many, and for how long after the last one. */
const KEPT = 1000;
const KEPT_MS = 60_000;

const BEGINNING = '0-0';

/**
 * They stand in a stream of their own, and not among the evictions: to miss some of them costs a platform a request each, and no
 * more.
 */
export function createRejections({ naming, events }: RejectionsOptions): Rejections {
  const me = newWord();
  const listeners = new Set<RejectionsListener>();
  const waiting: string[] = [];
  /** The last that was heard. Whoever has just started hears all that are kept. */
  let last = BEGINNING;

  return {
    tell(sealed) {
      if (waiting.length === WAITING) waiting.shift();
      waiting.push(sealed);
    },
    onTold(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async look(ask) {
      for (let step = 1; step <= STEPS; step += 1) {
        const told = waiting.splice(0, STEP);
        const args = [me, told.join(' '), KEPT, KEPT_MS, last, HEARD];
        const answer = await ask({ script: WARN, keys: [naming.rejections], args });
        if (answer.said !== 'ok') return;
        if (told.length > 0) events.sharedRejectionsTold?.({ rejections: told.length });
        const [newest, unheard] = answer.more;
        const heard = Array.isArray(unheard) ? unheard.slice(0, HEARD) : [];
        const hasMore = heard.length === HEARD;
        // What so many steps are not enough for is skipped.
        last = idIn(hasMore && step < STEPS ? heard.at(-1)?.[0] : newest);
        const sealed = heard.flatMap((entry) => rejectionsIn(entry, me));
        if (sealed.length > 0) for (const listener of listeners) listener(sealed);
        if (!hasMore && waiting.length === 0) return;
      }
    },
  };
}

/** Whatever a store has said: what is no id would have each look fail that comes after. */
function idIn(said: unknown): string {
  const id = String(said);
  return STREAM_ID.test(id) ? id : BEGINNING;
}

/** What others have told in an entry of the stream: its id and its fields. */
function rejectionsIn(entry: unknown, me: string): string[] {
  const [, fields] = Array.isArray(entry) ? entry : [];
  const [, from, , text] = Array.isArray(fields) ? fields : [];
  if (!Buffer.isBuffer(text) || text.length > MAX_TEXT || String(from) === me) return [];
  return text.toString('latin1').split(' ', STEP);
}
