import type { Events } from '../../core/kernel/events.ts';
import { nextTurn } from '../../core/kernel/turns.ts';

/**
 * By what replicas tell each other of rejected credentials. It is trusted with nothing: what it brings may be anything, late,
 * or once again, and what it is told may never arrive.
 */
export interface RejectionsStore {
  /** Tells all other replicas within a second, where it can be asked. Never throws. */
  tell(sealed: string): void;
  /** Calls `listener` with what other replicas have told. Gives a function that ends this. */
  onTold(listener: (sealed: readonly string[]) => void): () => void;
}

/** What only replicas of one deployment can do. */
export interface SealingSecret {
  /** Keyed hash of a text, base64url. */
  keyOf(text: string): string;
  seal(text: string): string;
  /** `undefined` where that secret has not sealed it. */
  open(sealed: string): string | undefined;
}

export interface SharedRejectionsOptions {
  readonly store: RejectionsStore;
  /** The current one; and those before it, by which others may still seal: their callers have other keys. */
  readonly secrets: readonly [SealingSecret, ...SealingSecret[]];
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Rejections by one upstream, as replicas tell them each other. */
export interface UpstreamRejections {
  /** The upstream has just rejected the credential of the caller with this key. */
  tell(key: string): void;
  /**
   * Calls `listener` with the keys of callers of whom another replica has told that, and how many milliseconds ago it was: fewer
   * than `ttlMs`. Gives a function that ends this.
   */
  onTold(ttlMs: number, listener: RejectedListener): () => void;
}

export type RejectedListener = (key: string, agoMs: number) => void;

export interface SharedRejections {
  /**
   * Those by an upstream that is asked in this way. It is the same text on all replicas that ask it alike: what others find,
   * with other settings, is not believed.
   */
  by(asked: string): UpstreamRejections;
}

/** How far clocks of replicas may be apart: what was rejected that far in the future was rejected now. */
const MAX_CLOCK_SKEW_MS = 1000;
/** Those that wait to be opened, at most, and how many are in one turn of the event loop: half a millisecond. */
const MAX_WAITING = 2000;
const STEP = 100;

/**
 * Each is sealed with its time by the secret of the deployment: nobody else can have a caller turned away, and what is brought
 * again means no more than it did the first time.
 */
export function createSharedRejections({ store, secrets, events, now }: SharedRejectionsOptions): SharedRejections {
  const [secret] = secrets;
  /** Of each upstream that is open. */
  const listeners = new Set<{ readonly by: string; readonly ttlMs: number; readonly listener: RejectedListener }>();
  let waiting: string[] = [];
  let isOpening = false;

  function take(sealed: string): 'taken' | 'useless' | 'altered' {
    const text = secrets.reduce<string | undefined>((opened, each) => opened ?? each.open(sealed), undefined);
    if (text === undefined) return 'altered';
    const [at, by = '', key = ''] = text.split(' ');
    const agoMs = now() - Number(at);
    if (agoMs < -MAX_CLOCK_SKEW_MS) return 'useless';
    const concerned = [...listeners].filter((one) => one.by === by && agoMs < one.ttlMs);
    for (const { listener } of concerned) listener(key, Math.max(agoMs, 0));
    return concerned.length > 0 ? 'taken' : 'useless';
  }

  store.onTold(async (sealed) => {
    waiting = waiting.concat(sealed.slice(0, MAX_WAITING - waiting.length));
    if (isOpening) return;
    isOpening = true;
    while (waiting.length > 0) {
      for (const one of waiting.splice(0, STEP)) {
        const outcome = take(one);
        events.sharedRejectionHeard?.({ outcome });
      }
      if (waiting.length > 0) await nextTurn();
    }
    isOpening = false;
  });

  return {
    by(asked) {
      const by = secret.keyOf(asked);
      return {
        tell: (key) => store.tell(secret.seal(`${now()} ${by} ${key}`)),
        onTold(ttlMs, listener) {
          const heard = { by, ttlMs, listener };
          listeners.add(heard);
          return () => listeners.delete(heard);
        },
      };
    },
  };
}
