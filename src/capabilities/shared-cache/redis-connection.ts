import { setTimeout as sleep } from 'node:timers/promises';
import { isDeadline, withDeadline } from '../../core/kernel/deadline.ts';
import type { CommandOutcome, Events } from '../../core/kernel/events.ts';
import type { DownReason, RedisClient, RedisClientOptions, RedisCommands, RedisTls } from './redis-client.ts';

export interface RedisConnectionOptions
  extends Pick<RedisClientOptions, 'url' | 'cluster' | 'connectTimeoutMs' | 'user'> {
  readonly timeoutMs: number;
  /** Returns the TLS options as their files have them now. @default TLS as the URL says */
  readonly tls?: (() => Promise<RedisTls>) | undefined;
  readonly channel: string;
  /** Called with each message that any replica publishes on the channel. */
  readonly onMessage: (message: string) => void;
  /** Called when Redis is in use again. */
  readonly onUp: () => void;
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

const NEVER = new AbortController().signal;

/** Connects to Redis in the background. The client reconnects by itself; it is replaced when its TLS files have changed. */
export function createRedisConnection(options: RedisConnectionOptions) {
  const { timeoutMs, tls, channel, onMessage, onUp, events } = options;
  let library: typeof import('./redis-client.ts') | undefined;
  let client: RedisClient | undefined;
  /** Whether the client has subscribed to the channel. It subscribes again by itself. */
  let isSubscribed = false;
  let tlsInUse: RedisTls | undefined;
  let replacements = 0;
  let isUp = false;
  let isClosed = false;
  let failures = 0;
  let pausedUntil = 0;
  let lastError: unknown;
  /** Why Redis is not in use, as it was emitted last. */
  let emittedWhy: DownReason | undefined;

  function setUp(): void {
    failures = 0;
    pausedUntil = 0;
    if (isUp || isClosed) return;
    isUp = true;
    emittedWhy = undefined;
    events.sharedStoreChanged?.({ isUp: true });
    onUp();
  }

  function setDown(): void {
    const { why, code } = describe(lastError);
    isUp = false;
    if (isClosed || emittedWhy === why) return;
    emittedWhy = why;
    events.sharedStoreChanged?.({ isUp: false, why, error: code });
  }

  function describe(error: unknown): { readonly why: DownReason; readonly code?: string | undefined } {
    if (library === undefined || error === undefined) return { why: 'unreachable' };
    return isDeadline(error) ? { why: 'stalled' } : library.describeError(error);
  }

  function onError(error: Error): void {
    if (library?.isOffline(error) !== true) lastError = error;
    setDown();
    void renewTls();
  }

  /** A connection that failed may need the certificates that the files have now. */
  async function renewTls(): Promise<void> {
    const now = await tls?.();
    if (now?.ca === tlsInUse?.ca && now?.cert === tlsInUse?.cert && now?.key === tlsInUse?.key) return;
    if (!isClosed) await replaceClient();
  }

  async function replaceClient(): Promise<void> {
    client?.destroy();
    client = undefined;
    isSubscribed = false;
    replacements += 1;
    const replacement = replacements;
    tlsInUse = await tls?.();
    if (library === undefined || isClosed || replacement !== replacements) return;
    const onReady = () => {
      if (isSubscribed) setUp();
    };
    const next = library.createRedisClient({ ...options, tls: tlsInUse, onReady, onError });
    client = next;
    try {
      await next.connect(channel, onMessage);
      if (client !== next) return;
      isSubscribed = true;
      setUp();
    } catch (error) {
      if (client !== next || isClosed) return;
      onError(error as Error);
      // A cluster that has no node yet is not tried again by itself.
      await sleep(RETRY_MS, undefined, { ref: false });
      if (client === next) await replaceClient();
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
      // Without a connection the reason is the error that ended it.
      if (library?.isOffline(error) !== true) lastError = error;
      const { why } = describe(lastError);
      finish(isDeadline(error) ? 'timeout' : why === 'full' ? 'full' : 'failed');
      // A Redis without room still serves lookups.
      if (why !== 'full') failures += 1;
      if (failures >= MAX_FAILURES) {
        pausedUntil = performance.now() + PAUSE_MS;
        setDown();
        // Its replies may never come, or belong to other commands.
        if (isDeadline(error) && client === current) void replaceClient();
      }
      return undefined;
    }
  };

  return {
    get isUp(): boolean {
      return isUp;
    },
    run,
    async open(): Promise<void> {
      events.sharedStoreOpened?.();
      library = await import('./redis-client.ts');
      await replaceClient();
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
