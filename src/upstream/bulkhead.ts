import { GatewayError } from '../kernel/errors.ts';

export interface BulkheadSettings {
  /** Calls that may run at once. */
  readonly slots: number;
  /** Calls that may wait; more are refused. */
  readonly maxQueue: number;
}

/** Bounds the calls that run at once and those that wait for it. */
export interface Bulkhead {
  /**
   * Runs `work` once there is a slot, in the order of asking. A newcomer may use half of the slots and of the queue at
   * most. Rejects with `overloaded` where the queue is full, and with the signal's reason where it aborts before
   * `work` has begun; else settles as `work` does.
   */
  run<T>(newcomer: boolean, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
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

export function createBulkhead({ slots, maxQueue }: BulkheadSettings): Bulkhead {
  const known = createLane(slots, maxQueue);
  const newcomers = createLane(Math.ceil(slots / 2), Math.ceil(maxQueue / 2));
  let numbered = 0;
  const running = () => known.running + newcomers.running;
  const waiting = () => known.queue.size + newcomers.queue.size;
  const hasSlot = (lane: Lane) => running() < slots && lane.running < lane.slots;

  function wait(lane: Lane, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      numbered += 1;
      const leave = () => {
        lane.queue.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        number: numbered,
        start() {
          signal.removeEventListener('abort', leave);
          lane.queue.delete(waiter);
          lane.running += 1;
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      lane.queue.add(waiter);
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
    async run(newcomer, signal, work) {
      signal.throwIfAborted();
      const lane = newcomer ? newcomers : known;
      if (hasSlot(lane)) {
        lane.running += 1;
      } else {
        if (waiting() >= maxQueue || lane.queue.size >= lane.maxQueue) throw new GatewayError('overloaded');
        await wait(lane, signal);
      }
      try {
        return await work();
      } finally {
        lane.running -= 1;
        nextInTurn()?.start();
      }
    },
  };
}

function createLane(slots: number, maxQueue: number): Lane {
  return { running: 0, slots, maxQueue, queue: new Set() };
}
