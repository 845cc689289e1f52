import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createFlights } from '../../kernel/flights.ts';
import { createPlaces } from '../../kernel/tables.ts';
import type { Load, Loader } from './load.ts';

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

export interface FlightsOptions {
  readonly resource: string;
  /** Counts the readers. */
  readonly waiting: Waiting;
  readonly events: Events;
}

/**
 * Shares one load among concurrent reads of one credential. A reader leaves with its own signal; when the last one
 * leaves, the load is aborted. An error reaches all readers, and the next read loads again.
 *
 * A shared load belongs to one credential, whatever the partition. Readers have their own deadlines; the load has its
 * upstream's, from its start.
 *
 * Each reader occupies a waiting slot; without one, nothing is loaded for it.
 */
export function withFlights(load: Loader, { resource, waiting, events }: FlightsOptions): Loader {
  const flights = createFlights<Load>();
  return async (caller, signal, options) => {
    signal.throwIfAborted();
    const { key } = caller;
    waiting.enter(caller);
    try {
      const joins = flights.has(key);
      if (joins) events.flightJoined?.({ ...requestOf(caller), resource });
      const begun = performance.now();
      const landed = await flights.board(key, signal, (shared) => load(caller, shared, options));
      if (!joins) return landed;
      return { ...landed, collapsed: true, upstreamMs: Math.min(landed.upstreamMs, performance.now() - begun) };
    } finally {
      waiting.leave(caller);
    }
  };
}
