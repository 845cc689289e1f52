import { setImmediate as settled } from 'node:timers/promises';
import { Credential } from '../../src/core/kernel/caller.ts';
import { GatewayError } from '../../src/core/kernel/errors.ts';
import { createLoadClock } from '../../src/core/upstream/loading.ts';
import { withBulkhead } from '../../src/core/upstream/resilience/with-bulkhead.ts';
import type { PageRequest, Reply, Upstream } from '../../src/core/upstream/upstream.ts';
import { createSchedule } from './schedule.ts';

interface QueueOptions {
  /** Connections to the platform. */
  readonly slots: number;
  readonly maxQueue: number;
  readonly timeoutMs: number;
  /** Reads that arrive in a second, at random. */
  readonly readsPerSecond: number;
  /** Pages of a read, one after the other. */
  readonly pages: number;
  /** How long the platform takes for the next page. */
  readonly durationMs: () => number;
  readonly seconds: number;
  /** What happens before is not counted. */
  readonly warmSeconds: number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/** Reads that arrived and reads that ended in the time that is counted. */
interface QueueResult {
  readonly reads: number;
  readonly answered: number;
  /** Refused or shed by the queue. */
  readonly refused: number;
  readonly timedOut: number;
  /** Calls that count against the breaker. */
  readonly faults: number;
}

/** Reads of one platform through the queue of Portico, with a clock of its own. Nothing is sent. */
export async function simulateQueue(options: QueueOptions): Promise<QueueResult> {
  const { timeoutMs, readsPerSecond, pages, durationMs, seconds, warmSeconds, random } = options;
  const schedule = createSchedule();
  const result = { reads: 0, answered: 0, refused: 0, timedOut: 0, faults: 0 };
  const upstream = withBulkhead(platform(), { ...options, callersOwn: false, events: {}, now: () => schedule.now });

  /** Answers after a while, or fails as the client does when the deadline passes. */
  function platform(): Upstream {
    return {
      name: 'platform',
      get<P>({ enter }: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>> {
        enter('first byte');
        return new Promise((resolve, reject) => {
          schedule.after(durationMs(), () => resolve({ page: undefined, headers: {} }));
          signal.addEventListener('abort', () => reject(new GatewayError('upstream_timeout', { fault: true })));
        });
      },
      close: async () => {},
    };
  }

  function count(what: keyof typeof result): void {
    if (schedule.now >= warmSeconds * 1000) result[what] += 1;
  }

  async function read(): Promise<void> {
    const controller = new AbortController();
    const load = createLoadClock(schedule.now + timeoutMs, () => schedule.now);
    schedule.after(timeoutMs, () => controller.abort(new GatewayError('upstream_timeout')));
    const caller = { credential: new Credential('token'), key: 'key', partition: 'partition', requestId: 'request' };
    count('reads');
    try {
      for (let page = 0; page < pages; page += 1) {
        const enter = load.startPage();
        await upstream
          .get({ target: '/', caller, load, enter, read: () => undefined }, controller.signal)
          .finally(enter);
      }
      load.onLoaded?.(load);
      count('answered');
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      count(error.code === 'overloaded' ? 'refused' : 'timedOut');
      if (error.fault) count('faults');
    }
  }

  const arrive = () => {
    void read();
    schedule.after((-1000 / readsPerSecond) * Math.log(1 - random()), arrive);
  };
  schedule.after(0, arrive);
  for (let now = 1; now <= seconds * 1000; now += 1) {
    schedule.until(now);
    await settled();
  }
  return result;
}
