import type { Exchange } from '../../core/http/exchange.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Rate, Standing } from './rate.ts';

/** Places of an address for credentials that are being judged, so that a burst of guesses is counted before it is answered. */
export interface Reservations {
  /**
   * Takes a place, once there is one. Rejects with what `refuse` throws where the address has met its limit, with
   * `rate_limited` where no place is free in time, and with the signal's reason where the caller hangs up.
   */
  take(exchange: Exchange, address: string, refuse: (standing: Standing) => never): Promise<void>;
  /** Gives the place of an exchange back, where it has one. */
  release(exchange: Exchange): void;
}

/** How long a request waits for a place, and how many wait at most. */
const WAIT_MS = 2000;
const MAX_WAITING = 1000;

interface Places {
  taken: number;
  readonly waiting: Set<() => void>;
}

/** No address has more places than its `quota` leaves. */
export function createReservations(rate: Rate, quota: number): Reservations {
  const places = new Map<string, Places>();
  const holders = new WeakMap<Exchange, string>();
  let waiting = 0;

  function placesOf(address: string): Places {
    const found = places.get(address) ?? { taken: 0, waiting: new Set() };
    places.set(address, found);
    return found;
  }

  function forget(address: string): void {
    const own = places.get(address);
    if (own?.taken === 0 && own.waiting.size === 0) places.delete(address);
  }

  function wakeNext(address: string): void {
    const queue = places.get(address)?.waiting;
    const [wake] = queue ?? [];
    if (wake === undefined) return;
    queue?.delete(wake);
    wake();
  }

  function wait(address: string, { signal }: Exchange, untilMs: number): Promise<void> {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0 || waiting >= MAX_WAITING) throw busy();
    const own = placesOf(address);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = setTimeout(() => reject(busy()), leftMs);
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    own.waiting.add(resolve);
    waiting += 1;
    return promise.finally(() => {
      clearTimeout(late);
      signal.removeEventListener('abort', leave);
      own.waiting.delete(resolve);
      waiting -= 1;
      forget(address);
    });
  }

  return {
    async take(exchange, address, refuse) {
      const untilMs = performance.now() + WAIT_MS;
      try {
        for (;;) {
          const standing = await rate.look(address);
          exchange.signal.throwIfAborted();
          if (standing?.remaining === 0) refuse(standing);
          const own = placesOf(address);
          if (own.taken < (standing?.remaining ?? quota)) {
            own.taken += 1;
            holders.set(exchange, address);
            return;
          }
          await wait(address, exchange, untilMs);
        }
      } catch (error) {
        // The place that it was woken for is for the next one.
        wakeNext(address);
        throw error;
      }
    },
    release(exchange) {
      const address = holders.get(exchange);
      if (address === undefined) return;
      holders.delete(exchange);
      // A request that read the count before this outcome was added takes its place before this one is released.
      setImmediate(() => {
        const own = placesOf(address);
        own.taken -= 1;
        wakeNext(address);
        forget(address);
      });
    },
  };
}

function busy(): GatewayError {
  return new GatewayError('rate_limited', {
    detail: 'Too many credentials from this address are being looked at. Try again after Retry-After.',
    retryAfterSeconds: 1,
    bound: 'limits.rejectedPerAddress',
  });
}
