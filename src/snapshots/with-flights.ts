import { heeding } from '../kernel/deadline.ts';
import type { Load, Loader } from './load.ts';

/** One load that several readers wait for. */
interface Flight {
  readonly landing: Promise<Load>;
  readonly controller: AbortController;
  waiters: number;
}

/**
 * Has concurrent reads of one partition share one load. A reader may leave alone, with its own signal; with the last
 * one the load is aborted. An error reaches all, and is forgotten: the next read loads again.
 *
 * A flight belongs to the partition of one credential, so nobody is given what another credential was shown. Readers'
 * deadlines are their own; the load's is that of its upstream, from when it began.
 */
export function withFlights(load: Loader): Loader {
  const flights = new Map<string, Flight>();

  function leave(partition: string, flight: Flight): void {
    flight.waiters -= 1;
    if (flight.waiters === 0 && flights.get(partition) === flight) {
      flights.delete(partition);
      flight.controller.abort();
    }
  }

  return async (caller, signal) => {
    signal.throwIfAborted();
    const { partition } = caller;
    const joined = flights.get(partition);
    if (joined !== undefined) {
      const begun = performance.now();
      const landed = await wait(joined);
      return { ...landed, collapsed: true, upstreamMs: Math.min(landed.upstreamMs, performance.now() - begun) };
    }
    const controller = new AbortController();
    const landing = load(caller, controller.signal).finally(() => {
      if (flights.get(partition) === flight) flights.delete(partition);
    });
    // There may be nobody left to hear of it.
    landing.catch(() => {});
    const flight: Flight = { landing, controller, waiters: 0 };
    flights.set(partition, flight);
    return wait(flight);

    async function wait(boarded: Flight): Promise<Load> {
      boarded.waiters += 1;
      try {
        return await heeding(signal, () => boarded.landing);
      } finally {
        leave(partition, boarded);
      }
    }
  };
}
