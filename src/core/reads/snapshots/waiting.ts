import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { createPlaces } from '../../kernel/tables/places.ts';

export interface WaitingOptions {
  /** Maximum number of reads waiting for a load, of all callers. */
  readonly maxWaiting: number;
  /** The same per credential. */
  readonly maxWaitingPerCaller: number;
}

/** The caller of the read. */
type Reader = Pick<Caller, 'key' | 'address'>;

/**
 * Reads waiting for a load, of all resources and both edges. Cached reads never wait. Unverified callers of one address
 * get at most half of the slots, whatever tokens they make up.
 */
export interface Waiting {
  /** Takes a slot for a read of this caller. Throws `overloaded`. */
  enter(caller: Reader): void;
  /** Releases the slot. */
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
