import type { Events } from '../../core/kernel/events.ts';
import { nextTurn } from '../../core/kernel/turns.ts';
import type { RedisConnection, RunCommand } from './redis-connection.ts';
import type { RedisKeys } from './redis-store.ts';

export interface AnnouncementsOptions {
  readonly connection: Pick<RedisConnection, 'run'>;
  readonly keys: RedisKeys;
  readonly seal: (text: string) => string;
  /** Opens what a replica has sealed; `undefined` for anything else. Never throws. */
  readonly open: (sealed: string) => string | undefined;
  readonly events: Events;
  /** Evictions that wait while Redis is down; beyond, everything stored so far is evicted. @default 100,000 names */
  readonly maxPending?: number | undefined;
}

/** Names of evicted values; `all`: everything that was stored so far, since some evictions may have been lost. */
export type Evicted = readonly string[] | 'all';

/** Evictions of one message, and as many rejections. */
const BATCH = 100;
/** Messages that the stream keeps, approximately: 16 MB if all of them are full. */
const KEPT_MESSAGES = 1000;
const RECEIVED = 32;
/** Commands of one exchange: more than it takes to send and to receive everything that is kept. */
const MAX_COMMANDS = 2000;
/** Rejections that wait: the oldest, which help least, are dropped. */
const MAX_REJECTIONS = 1000;
const BEGINNING = '0-0';

/**
 * Adds a message to the stream, unless it is empty, and returns the entries from a position on, that one included. An empty position
 * returns the newest entries. It trims first: Redis lets a script that has written continue when memory is full, and refuses it
 * on a replica, whose data may be old.
 */
const EXCHANGE = `
redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[2])
if ARGV[1] ~= '' then redis.call('XADD', KEYS[1], '*', 'message', ARGV[1]) end
if ARGV[3] ~= '' then return redis.call('XRANGE', KEYS[1], ARGV[3], '+', 'COUNT', ARGV[4]) end
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', ARGV[4])
local entries = {}
for at = #newest, 1, -1 do entries[#entries + 1] = newest[at] end
return entries`;

type RawEntry = readonly [id: string, fields: readonly [name: string, message: string]];

/** The message is whatever was stored: only replicas can seal and open messages. */
interface StreamEntry {
  readonly id: string;
  readonly message: unknown;
}

interface Message {
  readonly from: string;
  readonly evicted: Evicted;
  readonly rejected: readonly string[];
}

interface Batch extends Omit<Message, 'from'> {
  readonly deletions: readonly (readonly [name: string, deletion: Promise<boolean>])[];
}

/** What replicas announce to each other through a stream in Redis: evictions, and rejected credentials. */
export type Announcements = ReturnType<typeof createAnnouncements>;

export function createAnnouncements(options: AnnouncementsOptions) {
  const { connection, keys, seal, open, events, maxPending = 100_000 } = options;
  const self = crypto.randomUUID();
  const evictionListeners: ((evicted: Evicted) => void)[] = [];
  const rejectionListeners: ((rejection: string) => void)[] = [];
  /** By name, whether Redis has deleted the value. */
  const pending = new Map<string, Promise<boolean>>();
  const rejections: string[] = [];
  let isOverflown = false;
  /** Id of the last message that was received; empty before the first exchange. */
  let last = '';

  function receiveEviction(evicted: Evicted): void {
    events.sharedEvictionsReceived?.({ names: evicted === 'all' ? undefined : evicted.length });
    for (const listener of evictionListeners) listener(evicted);
  }

  function receive(message: unknown): void {
    const text = typeof message === 'string' ? open(message) : undefined;
    if (text === undefined) return void events.sharedRejectionReceived?.({ outcome: 'altered' });
    const { from, evicted, rejected }: Message = JSON.parse(text);
    if (from === self) return;
    if (evicted.length > 0) receiveEviction(evicted);
    for (const rejection of rejected) for (const listener of rejectionListeners) listener(rejection);
  }

  async function deleteValue(run: RunCommand, name: string): Promise<boolean> {
    const { value, lease } = keys.of(name);
    return (await run('evict', ({ commands }) => commands.del([value, lease]))) !== undefined;
  }

  /** Takes what is sent next. A name that is evicted again in the meantime becomes pending again. */
  function takeBatch(): Batch {
    const deletions = [...pending.entries().take(isOverflown ? 0 : BATCH)];
    for (const [name] of deletions) pending.delete(name);
    const evicted = isOverflown ? 'all' : deletions.map(([name]) => name);
    isOverflown = false;
    return { evicted, deletions, rejected: rejections.splice(0, BATCH) };
  }

  function putBack({ evicted, deletions }: Batch): void {
    if (evicted === 'all') isOverflown = true;
    for (const [name, deletion] of deletions) if (!pending.has(name)) pending.set(name, deletion);
  }

  /** Adds a batch to the stream once its values are deleted, and returns what came after the last message. */
  async function send(run: RunCommand, { evicted, deletions, rejected }: Batch) {
    const deleted = await Promise.all(
      deletions.map(async ([name, deletion]) => (await deletion) || (await deleteValue(run, name))),
    );
    if (deleted.includes(false)) return undefined;
    const isEmpty = evicted.length === 0 && rejected.length === 0;
    const message = isEmpty ? '' : seal(JSON.stringify({ from: self, evicted, rejected } satisfies Message));
    const options = { keys: [keys.stream], arguments: [message, `${KEPT_MESSAGES}`, last, `${RECEIVED}`] };
    const entries = await run('exchange', async ({ commands }) => {
      const reply = await commands.eval(EXCHANGE, options);
      return (reply as unknown as RawEntry[]).map(([id, [, message]]): StreamEntry => ({ id, message }));
    });
    if (entries !== undefined && evicted.length > 0) events.sharedEvictionsSent?.({ names: evicted.length });
    if (entries !== undefined && rejected.length > 0) events.sharedRejectionsSent?.({ rejections: rejected.length });
    return entries;
  }

  async function receiveAll([first, ...later]: readonly StreamEntry[]): Promise<void> {
    const isKnown = first?.id === last;
    // The stream was emptied or trimmed: evictions may be among what is gone.
    if (!isKnown && last !== '' && last !== BEGINNING) receiveEviction('all');
    for (const { id, message } of isKnown || first === undefined ? later : [first, ...later]) {
      receive(message);
      last = id;
      await nextTurn();
    }
    if (first === undefined) last = BEGINNING;
  }

  return {
    /** Deletes values and their leases at once, and announces that at the next heartbeat. Retries until both succeed. */
    evict(names: readonly string[]) {
      for (const name of names) pending.set(name, deleteValue(connection.run, name));
      if (pending.size <= maxPending) return;
      pending.clear();
      isOverflown = true;
    },
    /** Announces the text of a rejection at the next heartbeat. */
    reject(rejection: string) {
      if (rejections.length === MAX_REJECTIONS) rejections.shift();
      rejections.push(rejection);
    },
    onEviction: (listener: (evicted: Evicted) => void) => void evictionListeners.push(listener),
    onRejection: (listener: (rejection: string) => void) => void rejectionListeners.push(listener),
    /** Sends what is pending, then receives what others have sent. Resolves with whether Redis did all of it. */
    async exchange(run: RunCommand): Promise<boolean> {
      for (let times = 0; times < MAX_COMMANDS; times += 1) {
        const batch = takeBatch();
        const entries = await send(run, batch);
        if (entries === undefined) {
          putBack(batch);
          return false;
        }
        await receiveAll(entries);
        if (entries.length < RECEIVED && pending.size === 0 && rejections.length === 0 && !isOverflown) return true;
      }
      return false;
    },
  };
}
