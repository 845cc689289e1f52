import { requestOf } from '../../kernel/caller.ts';
import { type CallerPlaces, createCallerPlaces } from '../../kernel/caller-places.ts';
import type { Events } from '../../kernel/events.ts';
import { createFlights } from '../../kernel/flights.ts';
import type { Load, Loader } from './load.ts';

export interface WaitingOptions {
  /** Maximum number of reads waiting for a load, of all callers. */
  readonly maxWaiting: number;
  /** The same per credential. */
  readonly maxWaitingPerCaller: number;
}

/** Reads waiting for a load, of all resources and both edges. Cached reads never wait. */
export function createWaiting({ maxWaiting, maxWaitingPerCaller }: WaitingOptions): CallerPlaces {
  return createCallerPlaces({
    max: () => maxWaiting,
    maxPerCaller: maxWaitingPerCaller,
    bounds: ['maxWaiting', 'maxWaitingPerCaller'],
    taken: ['reads', 'waiting'],
  });
}

export interface FlightsOptions {
  readonly resource: string;
  /** Counts the readers. */
  readonly waiting: CallerPlaces;
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
