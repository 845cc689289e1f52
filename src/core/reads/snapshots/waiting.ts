import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { createPlaces } from '../../kernel/tables/places.ts';

export interface WaitingOptions {
  /** Reads that may wait for a load, all callers together. */
  readonly maxWaiting: number;
  /** Those of one credential. */
  readonly maxWaitingPerCaller: number;
}

/** Whose read it is. */
type Reader = Pick<Caller, 'key' | 'address'>;

/**
 * The reads that wait for a load, of all resources and over every edge. What is served from the cache never waits. Callers of one
 * address that were not verified have half of all places at most, however many tokens they make up.
 */
export interface Waiting {
  /** Takes a place for a read of this caller. Throws `overloaded` where there is none. */
  enter(caller: Reader): void;
  /** Gives the place back. */
  leave(caller: Reader): void;
}

export function createWaiting({ maxWaiting, maxWaitingPerCaller }: WaitingOptions): Waiting {
  const ofCallers = createPlaces();
  const ofAddresses = createPlaces();
  const maxOfAddress = Math.ceil(maxWaiting / 2);
  let total = 0;

  function refuse(bound: string, detail: string, reason = `${bound} is reached`): never {
    throw new GatewayError('overloaded', { detail, reason, bound });
  }

  return {
    enter({ key, address }) {
      if (ofCallers.taken(key) >= maxWaitingPerCaller) {
        refuse('maxWaitingPerCaller', 'Too many reads with this access token are waiting already.');
      }
      if (total >= maxWaiting) refuse('maxWaiting', 'Too many reads are waiting already.');
      if (ofAddresses.taken(address) >= maxOfAddress) {
        const detail = 'Too many reads from this address are waiting already.';
        refuse('maxWaiting', detail, 'half of maxWaiting is reached by one address');
      }
      ofCallers.take(key);
      ofAddresses.take(address);
      total += 1;
    },
    leave({ key, address }) {
      ofCallers.release(key);
      ofAddresses.release(address);
      total -= 1;
    },
  };
}
