import type { Exchange } from '../../core/http/exchange.ts';
import { isDeadline, withDeadline } from '../../core/kernel/deadline.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Rate, RateState } from './rate.ts';

const WAIT_MS = 2000;
const MAX_WAITING = 1000;

interface Places {
  taken: number;
  readonly waiting: Set<() => void>;
}

type Refuse = (state: RateState) => never;

/** Slots per address for credentials that are being judged, so that concurrent guesses are counted before they are answered. */
export function createReservations(rate: Rate, quota: number) {
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

  async function wait(address: string, signal: AbortSignal, untilMs: number): Promise<void> {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0 || waiting >= MAX_WAITING) throw busy();
    const own = placesOf(address);
    const { promise, resolve } = Promise.withResolvers<void>();
    own.waiting.add(resolve);
    waiting += 1;
    try {
      await withDeadline(leftMs, signal, () => promise);
    } catch (error) {
      throw isDeadline(error) ? busy() : error;
    } finally {
      own.waiting.delete(resolve);
      waiting -= 1;
      forget(address);
    }
  }

  function tryTake(exchange: Exchange, address: string, refuse: Refuse): boolean {
    const state = rate.look(address);
    if (state?.remaining === 0) refuse(state);
    const own = placesOf(address);
    if (own.taken >= (state?.remaining ?? quota)) return false;
    own.taken += 1;
    holders.set(exchange, address);
    return true;
  }

  async function waitToTake(exchange: Exchange, address: string, refuse: Refuse): Promise<void> {
    const untilMs = performance.now() + WAIT_MS;
    try {
      do await wait(address, exchange.signal, untilMs);
      while (!tryTake(exchange, address, refuse));
    } catch (error) {
      // Its slot passes to the next waiter.
      wakeNext(address);
      throw error;
    }
  }

  return {
    /** Takes a slot, or waits. Rejects with what `refuse` throws, with `rate_limited` after a while, and with the signal's reason. */
    take: (exchange: Exchange, address: string, refuse: Refuse): Promise<void> | undefined =>
      tryTake(exchange, address, refuse) ? undefined : waitToTake(exchange, address, refuse),
    release(exchange: Exchange): void {
      const address = holders.get(exchange);
      if (address === undefined) return;
      holders.delete(exchange);
      placesOf(address).taken -= 1;
      wakeNext(address);
      forget(address);
    },
  };
}

function busy(): GatewayError {
  return new GatewayError('rate_limited', {
    detail: 'Too many credentials from this address are being checked. Try again after Retry-After.',
    retryAfterSeconds: 1,
    reason: 'too many credentials of the address are in flight',
    bound: 'limits.rejectedPerAddress',
  });
}
