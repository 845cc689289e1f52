import { GatewayError } from '../kernel/errors.ts';

export interface WaitingOptions {
  /** Reads that may wait for a load, all callers together. */
  readonly maxWaiting: number;
  /** Those of one credential. */
  readonly maxWaitingPerCaller: number;
}

/** The reads that wait for a load, of all resources and over every edge. What is served from the cache never waits. */
export interface Waiting {
  /** Takes a place for a read of the caller with this key. Throws `overloaded` where there is none. */
  enter(callerKey: string): void;
  /** Gives the place back. */
  leave(callerKey: string): void;
}

export function createWaiting({ maxWaiting, maxWaitingPerCaller }: WaitingOptions): Waiting {
  const perCaller = new Map<string, number>();
  let total = 0;

  function refuse(bound: string, detail: string): never {
    throw new GatewayError('overloaded', { detail, reason: `${bound} is reached`, bound });
  }

  return {
    enter(callerKey) {
      const own = perCaller.get(callerKey) ?? 0;
      if (own >= maxWaitingPerCaller) {
        refuse('maxWaitingPerCaller', 'Too many reads with this access token are waiting already.');
      }
      if (total >= maxWaiting) refuse('maxWaiting', 'Too many reads are waiting already.');
      perCaller.set(callerKey, own + 1);
      total += 1;
    },
    leave(callerKey) {
      const own = perCaller.get(callerKey) ?? 0;
      if (own > 1) perCaller.set(callerKey, own - 1);
      else perCaller.delete(callerKey);
      total -= 1;
    },
  };
}
