import { setTimeout as sleep } from 'node:timers/promises';
import { isDeadline, withDeadline } from '../../core/kernel/deadline.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { DownReason, RedisClient, RedisClientOptions, RedisTls } from './redis-client.ts';

export interface RedisConnectionOptions
  extends Pick<RedisClientOptions, 'url' | 'cluster' | 'connectTimeoutMs' | 'user'> {
  readonly timeoutMs: number;
  /** Returns the TLS options as their files have them now. @default TLS as the URL says */
  readonly tls?: (() => Promise<RedisTls>) | undefined;
  /** Runs at each heartbeat, and resolves with whether Redis did all of it. */
  readonly heartbeat: (run: RunCommand) => Promise<boolean>;
  readonly events: Events;
}

/** Runs one command. `undefined`: Redis failed or was late; the command may have been executed nevertheless. Never rejects. */
export type RunCommand = <T>(name: CommandName, command: (client: RedisClient) => Promise<T>) => Promise<T | undefined>;

export type CommandName = 'get' | 'lease' | 'put' | 'release' | 'evict' | 'exchange' | 'count';

export type RedisConnection = ReturnType<typeof createRedisConnection>;

const HEARTBEAT_MS = 250;
/** Heartbeats that fail in a row until Redis counts as down: evictions are received within a second, or nothing is read. */
const FAILED_HEARTBEATS = 3;
const FAILED_COMMANDS = 5;
/** Time after `connectTimeoutMs` in which the client may reconnect by itself, until another one replaces it. */
const RECONNECT_MS = 3000;

/**
 * Connects to Redis and checks it four times a second, so that reads neither wait for it nor test it while it is down. The client
 * reconnects by itself; it is replaced if that takes too long, and if the TLS files change.
 */
export function createRedisConnection(options: RedisConnectionOptions) {
  const { timeoutMs, connectTimeoutMs, user, tls, heartbeat, events } = options;
  let library: typeof import('./redis-client.ts') | undefined;
  let client: RedisClient | undefined;
  let tlsInUse: RedisTls | undefined;
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> | undefined;
  let isUp = false;
  let isClosed = false;
  let failedCommands = 0;
  let failedHeartbeats = 0;
  /** When the client was created, or was last up. */
  let healthyAt = 0;
  let lastError: unknown;
  /** Reasons that were reported since Redis was last up. */
  const reported = new Set<DownReason>();

  async function createClient(): Promise<void> {
    library ??= await import('./redis-client.ts');
    tlsInUse = await tls?.();
    if (isClosed) return;
    healthyAt = performance.now();
    lastError = undefined;
    const failed = Promise.withResolvers<void>();
    const onError = (error: Error) => {
      lastError = error;
      failed.resolve();
    };
    client = library.createRedisClient({ ...options, connectTimeoutMs, tls: tlsInUse, onError });
    await Promise.race([client.connected, failed.promise, sleep(connectTimeoutMs, undefined, { ref: false })]);
  }

  function destroyClient(): void {
    client?.destroy();
    client = undefined;
  }

  /** Reports unusable files early, and drops a client whose certificates are no longer those of the files. */
  async function checkFiles(): Promise<void> {
    const [now] = await Promise.all([tls?.(), user()]);
    if (now?.ca !== tlsInUse?.ca || now?.cert !== tlsInUse?.cert || now?.key !== tlsInUse?.key) destroyClient();
  }

  const attempt: RunCommand = async (name, command) => {
    const current = client;
    if (current === undefined) return undefined;
    const startedAt = performance.now();
    const finish = (outcome: string, reason?: DownReason) =>
      events.sharedCommandEnded?.({ command: name, outcome, reason, ms: performance.now() - startedAt });
    try {
      const reply = await withDeadline(timeoutMs, new AbortController().signal, () => command(current));
      failedCommands = 0;
      finish('ok');
      return reply;
    } catch (error) {
      // Without a connection the reason is the error that ended it.
      if (!library?.isOffline(error)) lastError = error;
      const { why } = describe(lastError);
      finish(isDeadline(error) ? 'timeout' : 'failed', why);
      // A Redis without room still serves reads and exchanges evictions.
      if (why !== 'full') failedCommands += 1;
      if (failedCommands >= FAILED_COMMANDS) setDown();
      return undefined;
    }
  };

  const run: RunCommand = async (name, command) => (isUp ? attempt(name, command) : undefined);

  function setDown(): void {
    isUp = false;
    const { why, code } = describe(lastError);
    if (isClosed || reported.has(why)) return;
    reported.add(why);
    events.sharedStoreChanged?.({ isUp: false, why, error: code });
  }

  function describe(error: unknown): { readonly why: DownReason; readonly code?: string | undefined } {
    if (library === undefined || error === undefined) return { why: 'unreachable' };
    return isDeadline(error) ? { why: 'stalled' } : library.describeError(error);
  }

  function setUp(): void {
    healthyAt = performance.now();
    failedHeartbeats = 0;
    if (isUp) return;
    isUp = true;
    reported.clear();
    events.sharedStoreChanged?.({ isUp: true });
  }

  async function beat(): Promise<void> {
    await checkFiles();
    if (client === undefined) await createClient();
    const succeeded = await heartbeat(attempt);
    if (isClosed) return;
    if (succeeded) setUp();
    else {
      failedHeartbeats += 1;
      if (!isUp || failedHeartbeats >= FAILED_HEARTBEATS) setDown();
      if (performance.now() - healthyAt > connectTimeoutMs + RECONNECT_MS) destroyClient();
    }
    timer = setTimeout(startBeat, HEARTBEAT_MS);
  }

  function startBeat(): void {
    beating = beat();
  }

  async function lastBeat(): Promise<void> {
    await beating;
    clearTimeout(timer);
    if (isUp) await heartbeat(attempt);
  }

  return {
    /** Whether the last heartbeat succeeded, and commands since then did not fail in a row. */
    get isUp(): boolean {
      return isUp;
    },
    /** Resolves with `undefined` at once while Redis is down. */
    run,
    open(): void {
      events.sharedStoreOpened?.();
      startBeat();
    },
    /** Runs a last heartbeat if Redis is up, for as long as two commands may take, and disconnects. */
    async close(): Promise<void> {
      await Promise.race([lastBeat(), sleep(2 * timeoutMs, undefined, { ref: false })]);
      isClosed = true;
      isUp = false;
      clearTimeout(timer);
      destroyClient();
    },
  };
}
