import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createPlaces } from '../../kernel/tables/places.ts';
import { createTtlSet } from '../../kernel/tables/ttl-set.ts';
import { requestOf } from '../../kernel/trace.ts';
import type { Upstream } from '../upstream.ts';

export interface WithBulkheadOptions {
  /** Requests at once. No more than the client's connections: undici's own queue for them has no bound. */
  readonly slots: number;
  /** Requests that may wait; more get `overloaded`. */
  readonly maxQueue: number;
  /** Whether the upstream is given the caller's own token, and so can tell callers from strangers. */
  readonly callersOwn: boolean;
  /** As `upstreamOpened` tells it. */
  readonly opening?: symbol | undefined;
  readonly events: Events;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** How long, and of how many callers, it is remembered that the upstream knows them: some hundred bytes each. */
const KNOWN = { ttlMs: 600_000, max: 10_000 };

/**
 * Bounds what one upstream may take up of Portico, and Portico of it. Where any string may be a token, newcomers get
 * half of it at most: a caller is known by a page that its token was given. Newcomers of one address that were not verified
 * get half of the queue of newcomers.
 */
export function withBulkhead(upstream: Upstream, options: WithBulkheadOptions): Upstream {
  const { callersOwn, opening, events, now } = options;
  const { name } = upstream;
  const bulkhead = createBulkhead(options, (load) => events.bulkheadChanged?.({ upstream: name, opening, ...load }));
  const known = createTtlSet({ ...KNOWN, now });
  return {
    ...upstream,
    async get(request, signal) {
      const { key, address } = request.caller;
      const asked = now();
      let entered = false;
      try {
        const newcomer = callersOwn && !known.has(key);
        const reply = await bulkhead.run({ newcomer, address }, signal, () => {
          entered = true;
          events.bulkheadEntered?.({ upstream: name, waitedMs: now() - asked });
          return upstream.get(request, signal);
        });
        if (callersOwn) known.add(key);
        return reply;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (error.code === 'credential_rejected') known.delete(key);
        if (entered || error.code !== 'overloaded') throw error;
        events.callRefused?.({ ...requestOf(request.caller), upstream: name, code: error.code });
        throw error.from(name);
      }
    },
  };
}

interface Visitor {
  readonly newcomer: boolean;
  /** `undefined`: none that it shares a bound with. */
  readonly address: string | undefined;
}

interface Bulkhead {
  /**
   * Runs `work` once there is a slot, in the order of asking. A newcomer may use half of the slots and of the queue at
   * most, and those of one address half of that queue. Rejects with `overloaded` where the queue is full, and with the signal's reason where it aborts before
   * `work` has begun; else settles as `work` does.
   */
  run<T>(caller: Visitor, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Calls that run, and that wait to. */
interface BulkheadLoad {
  readonly running: number;
  readonly waiting: number;
}

interface Waiter {
  /** Grows with each one that comes to wait. */
  readonly number: number;
  start(): void;
}

/** Callers of one kind: what they use, and what they may use. */
interface Lane {
  running: number;
  readonly slots: number;
  readonly maxQueue: number;
  readonly queue: Set<Waiter>;
}

/** `onChange` is called with every change of its load. */
function createBulkhead(
  { slots, maxQueue }: Pick<WithBulkheadOptions, 'slots' | 'maxQueue'>,
  onChange: (load: BulkheadLoad) => void,
): Bulkhead {
  const known: Lane = { running: 0, slots, maxQueue, queue: new Set() };
  const newcomers: Lane = {
    running: 0,
    slots: Math.ceil(slots / 2),
    maxQueue: Math.ceil(maxQueue / 2),
    queue: new Set(),
  };
  const addresses = createPlaces();
  const maxOfAddress = Math.ceil(newcomers.maxQueue / 2);
  let numbered = 0;
  const running = () => known.running + newcomers.running;
  const waiting = () => known.queue.size + newcomers.queue.size;
  const changed = () => onChange({ running: running(), waiting: waiting() });
  const hasSlot = (lane: Lane) => running() < slots && lane.running < lane.slots;

  function wait(lane: Lane, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      numbered += 1;
      const leave = () => {
        lane.queue.delete(waiter);
        changed();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        number: numbered,
        start() {
          signal.removeEventListener('abort', leave);
          lane.queue.delete(waiter);
          lane.running += 1;
          changed();
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      lane.queue.add(waiter);
      changed();
    });
  }

  /** The one that has waited longest among those that may run now. */
  function nextInTurn(): Waiter | undefined {
    const [first] = known.queue;
    const [newcomer] = hasSlot(newcomers) ? newcomers.queue : [];
    if (first === undefined || newcomer === undefined) return first ?? newcomer;
    return first.number < newcomer.number ? first : newcomer;
  }

  return {
    async run({ newcomer, address }, signal, work) {
      signal.throwIfAborted();
      const lane = newcomer ? newcomers : known;
      if (hasSlot(lane)) {
        lane.running += 1;
        changed();
      } else {
        if (waiting() >= maxQueue || lane.queue.size >= lane.maxQueue) throw new GatewayError('overloaded');
        const bound = newcomer ? address : undefined;
        if (addresses.taken(bound) >= maxOfAddress) throw new GatewayError('overloaded');
        addresses.take(bound);
        await wait(lane, signal).finally(() => addresses.release(bound));
      }
      try {
        return await work();
      } finally {
        lane.running -= 1;
        const next = nextInTurn();
        if (next === undefined) changed();
        else next.start();
      }
    },
  };
}
