import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createPlaces, createTtlSet } from '../../kernel/tables.ts';
import { createUsualTime, type LoadClock } from '../loading.ts';
import type { PageRequest, Reply, Upstream } from '../upstream.ts';

export interface WithBulkheadOptions {
  /** Concurrent requests, at most as many as the client has connections: undici's own queue for them is unbounded. */
  readonly slots: number;
  /** Requests that may wait; more get `overloaded`. */
  readonly maxQueue: number;
  /** Whether the upstream is given the caller's own token, so that its responses distinguish callers from strangers. */
  readonly usesCallerToken: boolean;
  readonly opening?: symbol | undefined;
  readonly events: Events;
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
  /** What its full queue is called in a reason. */
  readonly bound: string;
}

interface Call {
  readonly caller: Caller;
  readonly lanes: readonly Lane[];
  readonly address: string | undefined;
  readonly load: LoadClock;
  readonly begun: number;
}

interface Waiter {
  readonly call: Call;
  start(): void;
  shed(error: GatewayError): void;
}

/**
 * Bounds concurrent and waiting requests of one upstream. Further pages of a load start before first pages, otherwise requests
 * start in order of arrival. If any string may be a token, newcomers get half of the slots and of the queue: a caller is known
 * once its token was given a page. Unverified newcomers of one address get half of the queue of newcomers.
 *
 * The first page of a load that would end too late is refused: on arrival by the expected wait, and when a slot is free by the
 * time that is left. So loads that wait and start have their usual time (docs/decisions/0062).
 */
export function withBulkhead(upstream: Upstream, options: WithBulkheadOptions): Upstream {
  const { slots, maxQueue, usesCallerToken, opening, events, now } = options;
  const { name } = upstream;
  const known = createTtlSet({ ...KNOWN, now });
  const all: Lane = { running: 0, waiting: 0, slots, maxQueue, bound: 'maxQueue' };
  const half = { slots: Math.ceil(slots / 2), maxQueue: Math.ceil(maxQueue / 2) };
  const newcomers: Lane = { ...all, ...half, bound: 'half of maxQueue, for callers without a page so far' };
  const maxOfAddress = Math.ceil(newcomers.maxQueue / 2);
  const addresses = createPlaces();
  /** Time of calls that were given a page, of complete loads since their first call started, and of these loads in slots. */
  const [ofCall, ofLoad, ofSlots] = [createUsualTime(), createUsualTime(), createUsualTime()];
  /** Further pages of loads, and first pages; the one that has waited longest first. */
  const queues = [new Set<Waiter>(), new Set<Waiter>()] as const;

  const hasSlot = (lanes: readonly Lane[]) => lanes.every((lane) => lane.running < lane.slots);
  const changed = () =>
    events.bulkheadChanged?.({ upstream: name, opening, running: all.running, waiting: all.waiting });

  function add(lanes: readonly Lane[], key: 'running' | 'waiting', by: 1 | -1): void {
    for (const lane of lanes) lane[key] += by;
  }

  /** Milliseconds until a call that arrives now starts. Waiting newcomers delay known callers by half at most. */
  function expectedWaitMs(lanes: readonly Lane[]): number {
    const turns = ({ waiting, slots: of }: Pick<Lane, 'waiting' | 'slots'>) => ((waiting + 1) / of) * ofSlots.meanMs;
    if (lanes.includes(newcomers)) return Math.max(turns(all), turns(newcomers));
    const others = { waiting: all.waiting - newcomers.waiting, slots: slots - newcomers.slots };
    return usesCallerToken && others.slots > 0 ? Math.min(turns(all), turns(others)) : turns(all);
  }

  function refused({ caller }: Call, why: string, afterMs = 0): GatewayError {
    events.callRefused?.({ ...requestOf(caller), upstream: name, code: 'overloaded' });
    const retryAfterSeconds = Math.max(Math.ceil(afterMs / 1000), 1);
    return new GatewayError('overloaded', { upstream: name, reason: `queue: ${why}`, retryAfterSeconds });
  }

  function checkQueue(call: Call): void {
    const { lanes, address, load } = call;
    const full = lanes.find((lane) => lane.waiting >= lane.maxQueue);
    if (full !== undefined) throw refused(call, `${full.waiting} calls wait (${full.bound})`);
    const ofAddress = addresses.taken(address);
    if (ofAddress >= maxOfAddress) throw refused(call, `${ofAddress} calls of new callers of one address wait`);
    const waitMs = load.startedAt === undefined ? expectedWaitMs(lanes) : 0;
    const missingMs = waitMs - slackMs(call);
    if (missingMs > 0) throw refused(call, `the wait would be ${inMs(waitMs)}; ${timeOf(call)}`, missingMs);
  }

  function neededMs({ load }: Call): number {
    return load.startedAt === undefined ? ofLoad.mostMs : 0;
  }

  function slackMs(call: Call): number {
    return call.load.dueAt - now() - neededMs(call);
  }

  function timeOf(call: Call): string {
    return `${inMs(neededMs(call))} are usually needed, and ${inMs(call.load.dueAt - now())} are left`;
  }

  function wait(call: Call, signal: AbortSignal): Promise<void> {
    const { lanes, address, load } = call;
    const queue = queues[load.startedAt === undefined ? 1 : 0];
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener('abort', abort);
        queue.delete(waiter);
        addresses.release(address);
        add(lanes, 'waiting', -1);
      };
      const shed = (reason: unknown) => {
        leave();
        reject(reason);
      };
      const abort = () => {
        shed(signal.reason);
        changed();
      };
      const waiter: Waiter = {
        call,
        shed,
        start() {
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

  function* waiters(): Generator<Waiter> {
    for (const queue of queues) yield* queue;
  }

  /** Starts the first waiting call that may start and is not late. Late ones are shed. */
  function startNext(): void {
    for (const { call, start: begin, shed } of waiters()) {
      if (!hasSlot(call.lanes)) continue;
      if (slackMs(call) >= 0) {
        begin();
        return;
      }
      shed(refused(call, `it waited ${inMs(now() - call.begun)}; ${timeOf(call)}`));
    }
  }

  /** Records the times of a complete load. With a closure for each load, nearly all loads outlived young collections. */
  function recordLoad({ startedAt = 0, slotMs }: LoadClock): void {
    ofLoad.add(now() - startedAt);
    ofSlots.add(slotMs);
  }

  async function run<P>({ lanes, load }: Call, request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>> {
    const { credentialKey: key } = request.caller;
    const begun = now();
    if (load.startedAt === undefined) {
      load.startedAt = begun;
      load.onLoaded = recordLoad;
    }
    try {
      const reply = await upstream.get(request, signal);
      ofCall.add(now() - begun);
      if (usesCallerToken) known.add(key);
      return reply;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (error.code === 'credential_rejected') known.delete(key);
      // Less than its usual time was left: the deadline is no fault of the upstream.
      const isShort = error.countsForBreaker && signal.aborted && load.dueAt - begun < ofCall.meanMs;
      throw isShort ? new GatewayError(error.code, { upstream: name }) : error;
    } finally {
      load.slotMs += now() - begun;
      add(lanes, 'running', -1);
      startNext();
      changed();
    }
  }

  return {
    ...upstream,
    async get(request, signal) {
      const { caller, load, enter } = request;
      const isNewcomer = usesCallerToken && !known.has(caller.credentialKey);
      const call: Call = {
        ...{ caller, load, begun: now() },
        lanes: isNewcomer ? [all, newcomers] : [all],
        address: isNewcomer ? caller.address : undefined,
      };
      signal.throwIfAborted();
      enter('queue');
      if (hasSlot(call.lanes)) {
        add(call.lanes, 'running', 1);
        changed();
      } else {
        checkQueue(call);
        await wait(call, signal);
      }
      events.bulkheadEntered?.({ upstream: name, waitedMs: now() - call.begun });
      return run(call, request, signal);
    },
  };
}

function inMs(time: number): string {
  return `${Math.round(time)} ms`;
}
