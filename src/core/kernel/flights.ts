import { withAbort } from './deadline.ts';

/** One piece of work that several wait for. */
interface Flight<T> {
  readonly landing: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/** Work under way, by key: whoever wants the same meanwhile waits for it, in place of having it done again. */
export interface Flights<T> {
  has(key: string): boolean;
  /**
   * Joins the flight of this key, or begins it with `work`. Settles as the work does, or rejects with the signal's reason
   * once that aborts: one may leave alone. When the last one leaves, the work's own signal aborts. An error reaches all, and
   * is forgotten.
   */
  board(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Flight<T>>();

  function begin(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const landing = work(controller.signal).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    // There may be nobody left to hear of it.
    landing.catch(() => {});
    const flight: Flight<T> = { landing, controller, waiters: 0 };
    flights.set(key, flight);
    return flight;
  }

  function leave(key: string, flight: Flight<T>): void {
    flight.waiters -= 1;
    if (flight.waiters > 0 || flights.get(key) !== flight) return;
    flights.delete(key);
    flight.controller.abort();
  }

  return {
    has: (key) => flights.has(key),
    async board(key, signal, work) {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? begin(key, work);
      flight.waiters += 1;
      try {
        return await withAbort(signal, () => flight.landing);
      } finally {
        leave(key, flight);
      }
    },
  };
}
