import type { KeyOf } from '../../core/credentials/authenticate.ts';
import type { SharedCounts } from '../../core/sharing.ts';
import type { RedisConnection } from './redis-connection.ts';

interface SharedCountsOptions {
  readonly redis: Pick<RedisConnection, 'run'>;
  readonly prefix: string;
  readonly keyOf: KeyOf;
}

/** Counters in Redis. All are in one slot of a cluster, so that one transaction adds to many of them. */
export function createSharedCounts({ redis, prefix, keyOf }: SharedCountsOptions): SharedCounts {
  return {
    nameOf: keyOf,
    async add(units, windowMs) {
      const named = [...units].map(([name, more]) => [`${prefix}:{counters}:${name}`, more] as const);
      const counted = await redis.run('add', ({ add }) => add(named, windowMs));
      return named.map((_, index) => {
        const [total, restMs] = counted?.[index] ?? [];
        // No window ends later than one that begins now, whatever Redis holds.
        return total === undefined || restMs === undefined ? undefined : { total, restMs: Math.min(restMs, windowMs) };
      });
    },
  };
}
