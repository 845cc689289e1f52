import { setTimeout as sleep } from 'node:timers/promises';
import type { Events } from '../../../core/kernel/events.ts';
import { openClient, type RedisTls, type RedisUser } from './client.ts';
import { type Connection, createConnection } from './connection.ts';
import { type Counts, createCounts } from './counts.ts';
import { createEvictions, type Evictions } from './evictions.ts';
import { createNaming } from './names.ts';
import { createRejections, type Rejections } from './rejections.ts';
import { createStore, type Store } from './store.ts';

export interface FleetOptions {
  /** `redis://` or `rediss://`, without a user. */
  readonly url: string;
  readonly cluster: boolean;
  /** What all keys begin with. */
  readonly prefix: string;
  /** How long a call may take. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly maxInFlight: number;
  readonly maxInFlightBytes: number;
  readonly maxValueBytes: number;
  /** Evictions at most that wait to be told. @default 100,000 */
  readonly maxWaiting?: number;
  /** By what Redis knows us now; asked for each connection, and at each look after it. Never rejects. */
  readonly user: () => Promise<RedisUser>;
  /** The same for TLS; `undefined`: none but what the URL says. Once it gives other certificates, another connection is opened. */
  readonly tls?: (() => Promise<RedisTls>) | undefined;
  readonly events: Events;
}

/** What a process has in common with the other replicas. */
export interface Fleet {
  readonly store: Store;
  readonly counts: Counts;
  readonly rejections: Pick<Rejections, 'tell' | 'onTold'>;
  /** Whether Redis is asked now. */
  readonly isUp: boolean;
  /** Begins to connect, in the background: nothing waits for it, and nothing fails without it. */
  open(): void;
  /** Ends it. What was evicted and not told yet is tried once more, for as long as one call may take. */
  close(): Promise<void>;
}

/** Joins the fleet whose Redis this is, once it is told to open. */
export function joinFleet(options: FleetOptions): Fleet {
  const { events, user, tls } = options;
  const naming = createNaming(options.prefix, options.cluster);
  /** What the connection was opened with. */
  let shown: RedisTls | undefined;

  /** Says in time that a file is of no use, and lives on with nothing that files do not say any more. */
  async function checkFiles(): Promise<void> {
    await user();
    const now = await tls?.();
    if (now?.ca !== shown?.ca || now?.cert !== shown?.cert || now?.key !== shown?.key) connection.renew();
  }

  const connection: Connection = createConnection({
    ...options,
    async open(onLost) {
      shown = await tls?.();
      return openClient({ ...options, connectMs: options.connectTimeoutMs, user: await user(), tls: shown }, onLost);
    },
    async look(ask) {
      // Whatever a file system does, evictions are heard.
      void checkFiles();
      const found = await evictions.look(ask);
      if (found === true) await rejections.look(ask);
      return found;
    },
  });
  const { ask } = connection;
  const evictions: Evictions = createEvictions({ ...options, naming, ask });
  const rejections = createRejections({ naming, events });
  return {
    store: createStore({ connection, naming, evictions, maxValueBytes: options.maxValueBytes }),
    counts: createCounts({ connection, naming }),
    rejections,
    get isUp() {
      return connection.isUp;
    },
    open() {
      events.sharedStoreOpened?.();
      connection.open();
    },
    async close() {
      await Promise.race([evictions.evict([]), sleep(options.timeoutMs, undefined, { ref: false })]);
      connection.close();
    },
  };
}
