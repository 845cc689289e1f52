import { withAbort } from './deadline.ts';

interface Flight<T> {
  /** `undefined` once settled: V8 keeps earlier tables of a `Map` for long. That took 5 to 20 % of an uncached read. */
  running: { readonly result: Promise<T>; readonly controller: AbortController } | undefined;
  waiters: number;
}

/** Shares work in progress by key: later waiters join it. */
export function createSingleFlight<T, K = string>() {
  const flights = new Map<K, Flight<T>>();

  function begin(key: K, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const result = work(controller.signal).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
      flight.running = undefined;
    });
    // All waiters may have left.
    result.catch(() => {});
    const flight: Flight<T> = { running: { result, controller }, waiters: 0 };
    flights.set(key, flight);
    return flight;
  }

  function leave(key: K, flight: Flight<T>): void {
    flight.waiters -= 1;
    if (flight.waiters > 0 || flights.get(key) !== flight) return;
    flights.delete(key);
    flight.running?.controller.abort();
  }

  return {
    has: (key: K) => flights.has(key),
    /**
     * Joins the work of this key, or starts it. Settles as the work does, or rejects with the signal's reason when that
     * aborts. When the last waiter has left, the work's signal aborts. An error reaches all waiters and is not kept.
     */
    async join(key: K, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? begin(key, work);
      flight.waiters += 1;
      try {
        return await withAbort(signal, () => flight.running?.result as Promise<T>);
      } finally {
        leave(key, flight);
      }
    },
  };
}
