import { requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createKeyedCounter } from '../../kernel/quotas.ts';
import type { LoadTiming, PageRequest, Upstream } from '../upstream.ts';

export interface WithQueueOptions {
  /** Concurrent requests, at most as many as the client has connections: undici's own queue for them is unbounded. */
  readonly slots: number;
  /** Requests that may wait; more get `overloaded`. Half of them for unverified callers of one address. */
  readonly maxQueue: number;
  readonly instanceId?: symbol | undefined;
  readonly events: Events;
  readonly now: () => number;
}

type QueuedRequest = Pick<PageRequest<unknown>, 'caller' | 'load'>;

interface Waiter extends QueuedRequest {
  start(): void;
  refuse(error: GatewayError): void;
}

/**
 * Bounds concurrent and waiting requests of one upstream. They start in order of arrival, except that further pages of a load go
 * before first pages, and callers of an address that uses half of the slots go last.
 *
 * The first page of a load is refused with `overloaded` when too little time is left for a usual load: on arrival by the
 * expected wait, and again when a slot is free. Loads that start have their usual time (docs/decisions/0009).
 */
export function withQueue(
  upstream: Upstream,
  { slots, maxQueue, instanceId, events, now }: WithQueueOptions,
): Upstream {
  const { name } = upstream;
  const waiters = new Set<Waiter>();
  const waitingOf = createKeyedCounter();
  const runningOf = createKeyedCounter();
  /** Time of complete loads since their first page started. */
  const usual = createUsualTime();
  const halfOfSlots = Math.ceil(slots / 2);
  const halfOfQueue = Math.ceil(maxQueue / 2);
  let running = 0;

  const changed = () => events.bulkheadChanged?.({ upstream: name, instanceId, running, waiting: waiters.size });

  function start({ caller }: QueuedRequest): void {
    running += 1;
    runningOf.take(caller.address);
  }

  function refusal({ caller }: QueuedRequest, why: string, afterMs = 0): GatewayError {
    events.callRefused?.({ ...requestOf(caller), upstream: name, code: 'overloaded' });
    const retryAfterSeconds = Math.max(Math.ceil(afterMs / 1000), 1);
    return new GatewayError('overloaded', { upstream: name, reason: `queue: ${why}`, retryAfterSeconds });
  }

  /** By how much a first page that waits so long would be late; 0 or less for one that would not be. */
  function lateByMs({ load }: QueuedRequest, waitMs: number): number {
    return load.startedAt === undefined ? waitMs + usual.mostMs - (load.dueAt - now()) : 0;
  }

  function lateness(request: QueuedRequest, lateMs: number): GatewayError {
    const leftMs = request.load.dueAt - now();
    const times = `${Math.round(leftMs + lateMs)} ms are usually needed, and ${Math.round(leftMs)} ms are left`;
    return refusal(request, times, lateMs);
  }

  /** Callers of one address wait for the others of it, or for all, whichever is shorter. */
  function expectedWaitMs(address: string | undefined): number {
    const ofAll = (waiters.size + 1) / slots;
    const ofAddress = (waitingOf.taken(address) + 1) / halfOfSlots;
    return usual.meanMs * (address === undefined ? ofAll : Math.min(ofAll, ofAddress));
  }

  function checkQueue(request: QueuedRequest): void {
    const { address } = request.caller;
    if (waiters.size >= maxQueue) throw refusal(request, `${waiters.size} calls wait (maxQueue)`);
    const ofAddress = waitingOf.taken(address);
    if (ofAddress >= halfOfQueue) throw refusal(request, `${ofAddress} calls of one address wait (half of maxQueue)`);
    const lateMs = lateByMs(request, expectedWaitMs(address));
    if (lateMs > 0) throw lateness(request, lateMs);
  }

  function leave(waiter: Waiter): void {
    waiters.delete(waiter);
    waitingOf.release(waiter.caller.address);
  }

  async function wait({ caller, load }: QueuedRequest, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { caller, load, start: resolve, refuse: reject };
    const abort = () => {
      if (!waiters.has(waiter)) return;
      leave(waiter);
      changed();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    waiters.add(waiter);
    waitingOf.take(caller.address);
    changed();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  function nextWaiter(): Waiter | undefined {
    return (
      waiters.values().find(({ load }) => load.startedAt !== undefined) ??
      waiters.values().find(({ caller }) => runningOf.taken(caller.address) < halfOfSlots) ??
      waiters.values().next().value
    );
  }

  /** Starts the next waiting call that is not late, and refuses those that are. */
  function startNext(): void {
    for (let next = nextWaiter(); next !== undefined; next = nextWaiter()) {
      leave(next);
      const lateMs = lateByMs(next, 0);
      if (lateMs > 0) {
        next.refuse(lateness(next, lateMs));
        continue;
      }
      start(next);
      next.start();
      return;
    }
  }

  function recordLoad({ startedAt = 0 }: LoadTiming): void {
    usual.add(now() - startedAt);
  }

  return {
    ...upstream,
    async get(request, signal) {
      const { caller, load } = request;
      signal.throwIfAborted();
      if (running < slots) {
        start(request);
        changed();
      } else {
        checkQueue(request);
        await wait(request, signal);
      }
      const startedAt = now();
      if (load.startedAt === undefined) Object.assign(load, { startedAt, onLoaded: recordLoad });
      // For example after a slow authorization.
      const isShort = load.dueAt - startedAt < usual.meanMs;
      try {
        return await upstream.get(isShort ? { ...request, isShort } : request, signal);
      } finally {
        running -= 1;
        runningOf.release(caller.address);
        startNext();
        changed();
      }
    },
  };
}

/** Share of the latest time in the average. */
const LATEST = 1 / 32;
/** Deviations above the mean in which nearly all loads end. */
const DEVIATIONS = 3;

/** Estimates the usual time as TCP does for its timeout (RFC 6298, section 2): smoothed time and mean deviation. */
function createUsualTime() {
  let share = 1;
  let meanMs = 0;
  let deviationMs = 0;
  return {
    add(ms: number): void {
      meanMs += share * (ms - meanMs);
      deviationMs += share * (Math.abs(ms - meanMs) - deviationMs);
      share = Math.max(share / (1 + share), LATEST);
    },
    get meanMs() {
      return meanMs;
    },
    /** Time in which nearly all loads end. 0 until one has ended. */
    get mostMs() {
      return meanMs + DEVIATIONS * deviationMs;
    },
  };
}
