import type { HttpRequest } from '../../core/http/http-request.ts';
import { isDeadline, withDeadline } from '../../core/kernel/deadline.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { createKeyedCounter } from '../../core/kernel/quotas.ts';
import type { Rate, RateState } from './rate.ts';

const WAIT_MS = 2000;
const MAX_WAITING = 1000;

type Refuse = (state: RateState) => never;

/** Slots per address for credentials that are being judged, so that concurrent guesses are counted before they are answered. */
export function createReservations(rate: Rate, quota: number) {
  const places = createKeyedCounter();
  const holders = new WeakMap<HttpRequest, string>();
  /** Those that wait, in order, and their addresses. */
  const waiting = new Map<() => void, string>();

  function wakeNext(address: string): void {
    const [wake] = waiting.entries().find(([, of]) => of === address) ?? [];
    if (wake === undefined) return;
    waiting.delete(wake);
    wake();
  }

  async function wait(address: string, signal: AbortSignal, untilMs: number): Promise<void> {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0 || waiting.size >= MAX_WAITING) throw busy();
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(resolve, address);
    try {
      await withDeadline(leftMs, signal, () => promise);
    } catch (error) {
      throw isDeadline(error) ? busy() : error;
    } finally {
      waiting.delete(resolve);
    }
  }

  function tryTake(request: HttpRequest, address: string, refuse: Refuse): boolean {
    const state = rate.look(address);
    if (state?.remaining === 0) refuse(state);
    if (places.taken(address) >= (state?.remaining ?? quota)) return false;
    places.take(address);
    holders.set(request, address);
    return true;
  }

  async function waitToTake(request: HttpRequest, address: string, refuse: Refuse): Promise<void> {
    const untilMs = performance.now() + WAIT_MS;
    try {
      do await wait(address, request.signal, untilMs);
      while (!tryTake(request, address, refuse));
    } catch (error) {
      // Its slot passes to the next waiter.
      wakeNext(address);
      throw error;
    }
  }

  return {
    /** Takes a slot, or waits. Rejects with what `refuse` throws, with `rate_limited` after a while, and with the signal's reason. */
    take: (request: HttpRequest, address: string, refuse: Refuse): Promise<void> | undefined =>
      tryTake(request, address, refuse) ? undefined : waitToTake(request, address, refuse),
    /** Returns whether the request had a slot. */
    release(request: HttpRequest): boolean {
      const address = holders.get(request);
      if (address === undefined) return false;
      holders.delete(request);
      places.release(address);
      wakeNext(address);
      return true;
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
