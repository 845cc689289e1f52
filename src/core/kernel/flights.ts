import { withAbort } from './deadline.ts';

/** Work shared by several waiters. */
interface Flight<T> {
  readonly landing: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/** Shares work in progress by key: later waiters join it. */
export interface Flights<T, K = string> {
  has(key: K): boolean;
  /**
   * Joins the work of this key, or starts it. Settles as the work does, or rejects with the signal's reason when that
   * aborts. When the last waiter has left, the work's signal aborts. An error reaches all waiters and is not kept.
   */
  board(key: K, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export function createFlights<T, K = string>(): Flights<T, K> {
  const flights = new Map<K, Flight<T>>();

  function begin(key: K, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const landing = work(controller.signal).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    // All waiters may have left.
    landing.catch(() => {});
    const flight: Flight<T> = { landing, controller, waiters: 0 };
    flights.set(key, flight);
    return flight;
  }

  function leave(key: K, flight: Flight<T>): void {
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
