import { createFlights } from '../kernel/flights.ts';
import type { Events } from '../observability/events.ts';
import { requestOf } from '../observability/trace.ts';
import type { Load, Loader } from './load.ts';
import type { Waiting } from './waiting.ts';

export interface FlightsOptions {
  readonly resource: string;
  /** Keeps account of the readers. */
  readonly waiting: Waiting;
  readonly events: Events;
}

/**
 * Has concurrent reads of one credential share one load. A reader may leave alone, with its own signal; when the last one
 * leaves, the load is aborted. An error reaches all readers, and is forgotten: the next read loads again.
 *
 * A flight belongs to one credential, whatever the partition: nobody is given what an upstream has just shown another one.
 * Readers' deadlines are their own; the load's is that of its upstream, counted from when it began.
 *
 * Each reader, the first one too, takes a place among those that wait; where there is none, nothing is loaded for it.
 */
export function withFlights(load: Loader, { resource, waiting, events }: FlightsOptions): Loader {
  const flights = createFlights<Load>();

  return async (caller, signal, options) => {
    signal.throwIfAborted();
    const { key } = caller;
    waiting.enter(key);
    try {
      const joins = flights.has(key);
      if (joins) events.flightJoined?.({ ...requestOf(caller), resource });
      const begun = performance.now();
      const landed = await flights.board(key, signal, (shared) => load(caller, shared, options));
      if (!joins) return landed;
      return { ...landed, collapsed: true, upstreamMs: Math.min(landed.upstreamMs, performance.now() - begun) };
    } finally {
      waiting.leave(key);
    }
  };
}
