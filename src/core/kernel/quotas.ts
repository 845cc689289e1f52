import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';

/** Counts occupied slots, or bytes, per key. `undefined` is no key and takes none. */
export function createKeyedCounter() {
  const places = new Map<string, number>();
  const taken = (key: string | undefined) => (key === undefined ? 0 : (places.get(key) ?? 0));
  return {
    taken,
    take(key: string | undefined, count = 1): void {
      if (key !== undefined && count > 0) places.set(key, taken(key) + count);
    },
    release(key: string | undefined, count = 1): void {
      if (key === undefined) return;
      if (taken(key) > count) places.set(key, taken(key) - count);
      else places.delete(key);
    },
  };
}

export type CallerQuota = ReturnType<typeof createCallerQuota>;

/** Unverified callers of one address get at most half of the places, whatever tokens they make up. */
export function createCallerQuota({
  max,
  maxPerCaller,
  bounds: [maxName, maxPerCallerName],
  taken: [by, state],
}: {
  /** Places of all callers. May change. */
  readonly max: () => number;
  readonly maxPerCaller: number;
  readonly bounds: readonly [max: string, maxPerCaller: string];
  /** Name of the things that take places, and the state in which they do: `reads`, `waiting`. */
  readonly taken: readonly [by: string, state: string];
}) {
  const ofCallers = createKeyedCounter();
  const ofAddresses = createKeyedCounter();
  let total = 0;

  function refuse(bound: string, whose: string, reason = `${bound} is reached`): never {
    throw new GatewayError('overloaded', { detail: `Too many ${by}${whose} are ${state} already.`, reason, bound });
  }

  return {
    get total() {
      return total;
    },
    /** Throws `overloaded`. */
    enter({ credentialKey: key, address }: Pick<Caller, 'credentialKey' | 'address'>): void {
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
    leave({ credentialKey: key, address }: Pick<Caller, 'credentialKey' | 'address'>): void {
      ofCallers.release(key);
      ofAddresses.release(address);
      total -= 1;
    },
  };
}
