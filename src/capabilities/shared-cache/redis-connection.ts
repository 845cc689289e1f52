import { setTimeout as sleep } from 'node:timers/promises';
import type { TlsIdentity } from '../../core/credentials/files/tls-files.ts';
import { isDeadline, withDeadline } from '../../core/kernel/deadline.ts';
import type { CommandOutcome, Events } from '../../core/kernel/events.ts';
import type { RedisClient, RedisClientOptions, RedisCommands } from './redis-client.ts';

export interface RedisConnectionOptions
  extends Pick<RedisClientOptions, 'url' | 'cluster' | 'connectTimeoutMs' | 'user' | 'servername'> {
  readonly timeoutMs: number;
  /** Returns what the TLS files have now: the same object until they change. @default TLS as the URL says */
  readonly tls?: (() => Promise<TlsIdentity>) | undefined;
  readonly channel: string;
  /** Called with each message that any replica publishes on the channel. */
  readonly onMessage: (message: string) => void;
  readonly events: Events;
}

/** Runs one command. `undefined`: Redis failed or was late; the command may have been executed nevertheless. Never rejects. */
export type RunCommand = <T>(
  name: keyof RedisCommands,
  command: (redis: RedisCommands) => Promise<T>,
) => Promise<T | undefined>;

export type RedisConnection = ReturnType<typeof createRedisConnection>;

/** After so many failures in a row no command is sent for a while, so that reads do not wait for a Redis that is late. */
const MAX_FAILURES = 5;
const PAUSE_MS = 1000;
const RETRY_MS = 1000;

/** Codes of commands that Redis rejects because no memory is left: alone, and in a transaction. Lookups still work. */
const FULL: readonly string[] = ['OOM', 'EXECABORT'];

/** Reason of an error that has no code. */
const OFFLINE = 'disconnected';

const NEVER = new AbortController().signal;

/** Connects to Redis in the background. The client reconnects by itself; it is replaced when its TLS files have changed. */
export function createRedisConnection(options: RedisConnectionOptions) {
  const { timeoutMs, tls, channel, onMessage, events } = options;
  let library: typeof import('./redis-client.ts') | undefined;
  let client: RedisClient | undefined;
  /** Whether the client has subscribed to the channel. It subscribes again by itself. */
  let isSubscribed = false;
  let tlsInUse: TlsIdentity | undefined;
  let isUp = false;
  let isClosed = false;
  let failures = 0;
  let pausedUntil = 0;
  /** Why Redis is not in use, as it was emitted last. */
  let emittedWhy: string | undefined;

  function setUp(): void {
    failures = 0;
    if (isUp || isClosed || !isSubscribed) return;
    isUp = true;
    emittedWhy = undefined;
    events.sharedStoreChanged?.({ isUp });
  }

  function setDown(error: unknown): void {
    isUp = false;
    const why = codeOf(error);
    // A client that has no connection reports only that, and an error before it said why.
    if (isClosed || emittedWhy === why || (emittedWhy !== undefined && why === OFFLINE)) return;
    emittedWhy = why;
    events.sharedStoreChanged?.({ isUp, why });
  }

  function codeOf(error: unknown): string {
    return isDeadline(error) ? 'timeout' : (library?.errorCodeOf(error) ?? OFFLINE);
  }

  /** A connection that failed may need the certificates that the files have now. */
  async function onError(error: Error): Promise<void> {
    setDown(error);
    if ((await tls?.()) !== tlsInUse) void connect();
  }

  async function connect(): Promise<void> {
    library ??= await import('./redis-client.ts');
    tlsInUse = await tls?.();
    if (isClosed) return;
    client?.destroy();
    isSubscribed = false;
    const created = library.createRedisClient({ ...options, tls: tlsInUse, onReady: setUp, onError });
    client = created;
    try {
      await created.connect(channel, onMessage);
      if (client !== created) return;
      isSubscribed = true;
      setUp();
    } catch (error) {
      if (client !== created) return;
      setDown(error);
      // A cluster that has no node yet is not tried again by itself.
      await sleep(RETRY_MS, undefined, { ref: false });
      if (client === created) void connect();
    }
  }

  const run: RunCommand = async (name, command) => {
    const current = client;
    if (current === undefined || !isSubscribed || isClosed || performance.now() < pausedUntil) return undefined;
    const startedAt = performance.now();
    const finish = (outcome: CommandOutcome) =>
      events.sharedCommandEnded?.({ command: name, outcome, ms: performance.now() - startedAt });
    try {
      const reply = await withDeadline(timeoutMs, NEVER, () => command(current));
      finish('ok');
      setUp();
      return reply;
    } catch (error) {
      const isFull = FULL.includes(codeOf(error));
      finish(isDeadline(error) ? 'timeout' : isFull ? 'full' : 'failed');
      if (!isFull) failures += 1;
      if (failures >= MAX_FAILURES) {
        pausedUntil = performance.now() + PAUSE_MS;
        setDown(error);
      }
      return undefined;
    }
  };

  return {
    get isUp(): boolean {
      return isUp;
    },
    run,
    open(): Promise<void> {
      events.sharedStoreOpened?.();
      return connect();
    },
    /** Waits for commands under way, at most as long as one may take, and disconnects. */
    async close(): Promise<void> {
      isClosed = true;
      // The client waits for replies that a lost connection never brings, and then nothing else keeps the process.
      await withDeadline(timeoutMs, NEVER, async () => client?.close()).catch(() => {});
      client?.destroy();
    },
  };
}
