import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createPlaces, createTtlSet } from '../../kernel/tables.ts';
import type { Upstream } from '../upstream.ts';

export interface WithBulkheadOptions {
  /** Concurrent requests, at most as many as the client has connections: undici's own queue for them is unbounded. */
  readonly slots: number;
  /** Requests that may wait; more get `overloaded`. */
  readonly maxQueue: number;
  /** Whether the upstream is given the caller's own token, so that its responses distinguish callers from strangers. */
  readonly callersOwn: boolean;
  /** As in `upstreamOpened`. */
  readonly opening?: symbol | undefined;
  readonly events: Events;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** How long, and for how many callers, a successful read is remembered: some hundred bytes each. */
const KNOWN = { ttlMs: 600_000, max: 10_000 };

/** Callers that share bounds: all of them, or newcomers alone. */
interface Lane {
  running: number;
  waiting: number;
  readonly slots: number;
  readonly maxQueue: number;
}

interface Waiter {
  readonly lanes: readonly Lane[];
  start(): void;
}

/**
 * Bounds concurrent and waiting requests of one upstream; requests start in order of arrival. If any string may be a token,
 * newcomers get half of the slots and of the queue: a caller is known once its token was given a page. Unverified newcomers of
 * one address get half of the queue of newcomers.
 */
export function withBulkhead(upstream: Upstream, options: WithBulkheadOptions): Upstream {
  const { slots, maxQueue, callersOwn, opening, events, now } = options;
  const { name } = upstream;
  const known = createTtlSet({ ...KNOWN, now });
  const all: Lane = { running: 0, waiting: 0, slots, maxQueue };
  const newcomers: Lane = { ...all, slots: Math.ceil(slots / 2), maxQueue: Math.ceil(maxQueue / 2) };
  const maxOfAddress = Math.ceil(newcomers.maxQueue / 2);
  const addresses = createPlaces();
  /** The one that has waited longest first. */
  const queue = new Set<Waiter>();

  const hasSlot = (lanes: readonly Lane[]) => lanes.every((lane) => lane.running < lane.slots);
  const changed = () =>
    events.bulkheadChanged?.({ upstream: name, opening, running: all.running, waiting: all.waiting });

  function add(lanes: readonly Lane[], key: 'running' | 'waiting', by: 1 | -1): void {
    for (const lane of lanes) lane[key] += by;
  }

  function start(lanes: readonly Lane[]): void {
    add(lanes, 'running', 1);
    changed();
  }

  function checkQueue(caller: Caller, lanes: readonly Lane[], address: string | undefined): void {
    const isFull = lanes.some((lane) => lane.waiting >= lane.maxQueue) || addresses.taken(address) >= maxOfAddress;
    if (!isFull) return;
    events.callRefused?.({ ...requestOf(caller), upstream: name, code: 'overloaded' });
    throw new GatewayError('overloaded', { upstream: name });
  }

  function wait(lanes: readonly Lane[], address: string | undefined, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(waiter);
        addresses.release(address);
        add(lanes, 'waiting', -1);
      };
      const abort = () => {
        leave();
        changed();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        lanes,
        start() {
          signal.removeEventListener('abort', abort);
          leave();
          add(lanes, 'running', 1);
          resolve();
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      queue.add(waiter);
      addresses.take(address);
      add(lanes, 'waiting', 1);
      changed();
    });
  }

  function leave(lanes: readonly Lane[]): void {
    add(lanes, 'running', -1);
    for (const waiter of queue) {
      if (!hasSlot(waiter.lanes)) continue;
      waiter.start();
      break;
    }
    changed();
  }

  return {
    ...upstream,
    async get(request, signal) {
      const { key } = request.caller;
      const isNewcomer = callersOwn && !known.has(key);
      const lanes = isNewcomer ? [all, newcomers] : [all];
      const begun = now();
      signal.throwIfAborted();
      if (hasSlot(lanes)) start(lanes);
      else {
        const address = isNewcomer ? request.caller.address : undefined;
        checkQueue(request.caller, lanes, address);
        await wait(lanes, address, signal);
      }
      events.bulkheadEntered?.({ upstream: name, waitedMs: now() - begun });
      try {
        const reply = await upstream.get(request, signal);
        if (callersOwn) known.add(key);
        return reply;
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'credential_rejected') known.delete(key);
        throw error;
      } finally {
        leave(lanes);
      }
    },
  };
}
