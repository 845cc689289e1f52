import type { Caller } from '../kernel/caller.ts';
import { withAbort } from '../kernel/deadline.ts';
import type { Events } from '../observability/events.ts';
import type { Load, Loader, LoadOptions } from './load.ts';
import type { Waiting } from './waiting.ts';

export interface FlightsOptions {
  readonly resource: string;
  /** Keeps account of the readers. */
  readonly waiting: Waiting;
  readonly events: Events;
}

/** One load that several readers wait for. */
interface Flight {
  readonly landing: Promise<Load>;
  readonly controller: AbortController;
  waiters: number;
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
  const flights = new Map<string, Flight>();

  function leave(key: string, flight: Flight): void {
    flight.waiters -= 1;
    if (flight.waiters === 0 && flights.get(key) === flight) {
      flights.delete(key);
      flight.controller.abort();
    }
  }

  return async (caller, signal, options) => {
    signal.throwIfAborted();
    const { key } = caller;
    waiting.enter(key);
    try {
      return await board(caller, signal, options);
    } finally {
      waiting.leave(key);
    }
  };

  async function board(caller: Caller, signal: AbortSignal, options?: LoadOptions): Promise<Load> {
    const { key } = caller;
    const joined = flights.get(key);
    if (joined !== undefined) {
      events.flightJoined?.({ resource });
      const begun = performance.now();
      const landed = await wait(joined);
      return { ...landed, collapsed: true, upstreamMs: Math.min(landed.upstreamMs, performance.now() - begun) };
    }
    const controller = new AbortController();
    const landing = load(caller, controller.signal, options).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    // There may be nobody left to hear of it.
    landing.catch(() => {});
    const flight: Flight = { landing, controller, waiters: 0 };
    flights.set(key, flight);
    return wait(flight);

    async function wait(boarded: Flight): Promise<Load> {
      boarded.waiters += 1;
      try {
        return await withAbort(signal, () => boarded.landing);
      } finally {
        leave(key, boarded);
      }
    }
  }
}
