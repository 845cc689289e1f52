import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';
import { createPlaces } from './tables.ts';

type Holder = Pick<Caller, 'key' | 'address'>;

export interface CallerPlacesOptions {
  /** Of all callers. May change. */
  readonly max: () => number;
  /** Of one credential. */
  readonly maxPerCaller: number;
  /** Names of these two bounds. */
  readonly bounds: readonly [max: string, maxPerCaller: string];
  /** What takes places, and the state in which it does: `reads`, `waiting`. */
  readonly taken: readonly [by: string, state: string];
}

/**
 * Places of all callers. Unverified callers of one address get at most half of them, whatever tokens they make up.
 */
export interface CallerPlaces {
  readonly total: number;
  /** Takes a place for this caller. Throws `overloaded`. */
  enter(caller: Holder): void;
  /** Releases the place. */
  leave(caller: Holder): void;
}

export function createCallerPlaces({
  max,
  maxPerCaller,
  bounds,
  taken: [by, state],
}: CallerPlacesOptions): CallerPlaces {
  const ofCallers = createPlaces();
  const ofAddresses = createPlaces();
  const [maxName, maxPerCallerName] = bounds;
  let total = 0;

  function refuse(bound: string, whose: string, reason = `${bound} is reached`): never {
    throw new GatewayError('overloaded', { detail: `Too many ${by}${whose} are ${state} already.`, reason, bound });
  }

  return {
    get total() {
      return total;
    },
    enter({ key, address }) {
      const most = max();
      if (ofCallers.taken(key) >= maxPerCaller) refuse(maxPerCallerName, ' with this access token');
      if (total >= most) refuse(maxName, '');
      if (ofAddresses.taken(address) >= Math.ceil(most / 2)) {
        refuse(maxName, ' from this address', `half of ${maxName} is reached by one address`);
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
