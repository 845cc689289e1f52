import { randomBytes } from 'node:crypto';
import type { KeyOf } from '../../core/credentials/authenticate.ts';
import type { SharedCounts } from '../../core/sharing.ts';
import type { RedisConnection } from './redis-connection.ts';

/** A random token that only the holder of the lease has. */
export type Lease = string & { readonly lease: unique symbol };

export interface RedisStoreOptions {
  readonly connection: Pick<RedisConnection, 'run'>;
  readonly keys: RedisKeys;
  readonly maxValueBytes: number;
}

export type RedisKeys = ReturnType<typeof createRedisKeys>;

/** Names of keys. In a cluster, keys with the same text in braces are in one slot. */
export function createRedisKeys(prefix: string) {
  return {
    stream: `${prefix}:announcements`,
    of: (name: string) => ({ value: `${prefix}:value:{${name}}`, lease: `${prefix}:lease:{${name}}` }),
    counter: (name: string) => `${prefix}:{counters}:${name}`,
  };
}

/** Stores a value and ends the lease in one step, if the lease still has this token. Returns 1 if stored. */
const PUT_LEASED = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
return 1`;

const RELEASE_LEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/** Adds to counters that expire together with their window, and returns the total and the rest of the window of each. */
const ADD_TO_COUNTERS = `
local counted = {}
for at, key in ipairs(KEYS) do
  local total = redis.call('INCRBY', key, ARGV[at + 1])
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ARGV[1]) end
  counted[at] = { total, redis.call('PTTL', key) }
end
return counted`;

export type RedisStore = ReturnType<typeof createRedisStore>;

/** Values and leases in Redis. No call takes longer than the timeout of a command, and none rejects. */
export function createRedisStore({ connection, keys, maxValueBytes }: RedisStoreOptions) {
  const { run } = connection;

  async function release(name: string, lease: Lease): Promise<void> {
    const options = { keys: [keys.of(name).lease], arguments: [lease] };
    await run('release', ({ commands }) => commands.eval(RELEASE_LEASE, options));
  }

  return {
    /** `undefined`: Redis is down. Values longer than `maxValueBytes` are cut off there. */
    async get(name: string): Promise<{ readonly value: Buffer | undefined } | undefined> {
      const value = await run('get', ({ bytes }) => bytes.getRange(keys.of(name).value, 0, maxValueBytes));
      return value ? { value: value.length === 0 ? undefined : value } : undefined;
    },
    /** One replica loads at a time. `other`: another load has the lease. `undefined`: Redis is down. */
    async lease(name: string, ms: number): Promise<Lease | 'other' | undefined> {
      const token = randomBytes(12).toString('base64url') as Lease;
      const options = { condition: 'NX', expiration: { type: 'PX', value: ms } } as const;
      const reply = await run('lease', ({ commands }) => commands.set(keys.of(name).lease, token, options));
      if (reply === 'OK') return token;
      // The command may have been executed nevertheless.
      if (reply === undefined) void release(name, token);
      return reply === undefined ? undefined : 'other';
    },
    /** Stores a value and ends the lease in one step. `false`: the lease has expired, or an eviction has ended it. */
    async put(name: string, bytes: Buffer, { lease, ttlMs }: { readonly lease: Lease; readonly ttlMs: number }) {
      const { value, lease: leaseKey } = keys.of(name);
      const options = { keys: [value, leaseKey], arguments: [lease, `${ttlMs}`, bytes] };
      return (await run('put', ({ commands }) => commands.eval(PUT_LEASED, options))) === 1;
    },
    release,
  };
}

/** Counts in Redis. All counters are in one slot of a cluster, so that one command adds to many of them. */
export function createRedisCounts(
  options: Omit<RedisStoreOptions, 'maxValueBytes'> & { readonly keyOf: KeyOf },
): SharedCounts {
  const { connection, keys, keyOf } = options;
  return {
    nameOf: keyOf,
    async add(units, windowMs) {
      const named = [...units.keys()].map(keys.counter);
      const options = { keys: named, arguments: [windowMs, ...units.values()].map(String) };
      const counted = await connection.run('count', async ({ commands }) => {
        const reply = await commands.eval(ADD_TO_COUNTERS, options);
        // No window ends later than one that begins now.
        return (reply as unknown as [number, number][]).map(([total, restMs]) => ({
          total,
          restMs: Math.min(restMs, windowMs),
        }));
      });
      return named.map((_, index) => counted?.[index]);
    },
  };
}
