import { startTimer } from '../../../core/kernel/deadline.ts';
import type { Client } from './client.ts';
import type { Script } from './scripts.ts';

/** What there is for a script: the keys that it is about, in one slot of a cluster, and what else it is told. */
export interface Call {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | Buffer | number)[];
}

/** Why a call has no answer. */
export type Failure =
  /** Not sent: nobody is there to ask, or as much as may be is under way. */
  | 'unavailable'
  /** Nothing was said in time. It may have been done all the same. */
  | 'timeout'
  /** Not now: what is written is not taken (memory is full, or disk), or what stands there is of another kind. */
  | 'refused_by_store'
  /** Redis does not answer, or not us, or not yet. */
  | 'failed';

/** What a script says behind its first two words. */
export type Answer =
  | { readonly said: 'ok' | 'refused'; readonly more: readonly unknown[] }
  | { readonly said: Failure; readonly code?: string | undefined };

export interface LinkOptions {
  /** How long a call may take. */
  readonly timeoutMs: number;
  /** How long one may stay without any answer, until the connection is taken for dead. */
  readonly stallMs: number;
  /** Calls at most that have no answer yet, also those that nobody waits for any more. */
  readonly maxInFlight: number;
  /** What those send, in bytes. */
  readonly maxInFlightBytes: number;
  /** Told once that the connection must be replaced, and why in a word. */
  readonly onLost: (why: LostReason) => void;
}

/** Why a connection is of no use any more. */
export type LostReason =
  | 'unreachable'
  | 'tls'
  | 'closed'
  | 'stalled'
  | 'out_of_step'
  | 'credential'
  | 'renewed'
  | 'replica'
  | 'failing'
  | 'unsteady';

/** One connection, asked within bounds of time, number and bytes. */
export interface Link {
  /** Never rejects. */
  ask(call: Call): Promise<Answer>;
  /** Says that it is lost. */
  lose(why: LostReason): void;
  readonly isLost: boolean;
}

/** What Redis says where it would not write, or not to this: it answers, and others may be better off. */
const REFUSALS = new Set(['OOM', 'MISCONF', 'NOREPLICAS', 'READONLY', 'WRONGTYPE']);

export function createLink(client: Client, options: LinkOptions): Link {
  const { timeoutMs, stallMs, maxInFlight, maxInFlightBytes } = options;
  let inFlight = 0;
  let bytesInFlight = 0;
  let words = 0;
  let isLost = false;

  function lose(why: LostReason): void {
    if (isLost) return;
    isLost = true;
    client.destroy();
    options.onLost(why);
  }

  async function send({ script, keys, args }: Call, word: string): Promise<Answer> {
    const rest = [String(keys.length), ...keys, word, ...args.map((arg) => (typeof arg === 'number' ? `${arg}` : arg))];
    const key = keys[0] ?? '';
    let reply: unknown;
    try {
      reply = await client.send(key, ['EVALSHA', script.sha1, ...rest]).catch((error: unknown) => {
        if (codeOf(error) !== 'NOSCRIPT') throw error;
        return client.send(key, ['EVAL', script.source, ...rest]);
      });
    } catch (error) {
      const code = codeOf(error);
      return { said: REFUSALS.has(code) ? 'refused_by_store' : 'failed', code };
    }
    const [first, said, ...more] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (String(first) === word) {
      if (String(said) === 'ok' || String(said) === 'refused') return { said: String(said) as 'ok' | 'refused', more };
      // A replica has what its master had a while ago.
      if (String(said) === 'replica') lose('replica');
    } else {
      // The reply is another command's: so may be all that follow.
      lose('out_of_step');
    }
    return { said: 'failed' };
  }

  return {
    get isLost() {
      return isLost;
    },
    lose,
    ask(call) {
      const size = sizeOf(call);
      if (isLost || inFlight >= maxInFlight || bytesInFlight + size > maxInFlightBytes) {
        return Promise.resolve({ said: 'unavailable' });
      }
      inFlight += 1;
      bytesInFlight += size;
      words += 1;
      return new Promise((resolve) => {
        const late = () => {
          resolve({ said: 'timeout' });
          callOff = startTimer(stallMs - timeoutMs, () => lose('stalled'));
        };
        let callOff = startTimer(timeoutMs, late);
        void send(call, `${words}`).then((answer) => {
          callOff();
          inFlight -= 1;
          bytesInFlight -= size;
          resolve(answer);
        });
      });
    },
  };
}

/** The first word of an error of Redis; nothing of what it quotes. */
export function codeOf(error: unknown): string {
  const { message = '' } = error as Partial<Error>;
  return /^[A-Z]{2,20}(?= |$)/.exec(message)?.[0] ?? 'closed';
}

function sizeOf({ keys, args }: Call): number {
  let size = 0;
  for (const key of keys) size += key.length;
  for (const arg of args) size += typeof arg === 'number' ? 8 : arg.length;
  return size;
}
