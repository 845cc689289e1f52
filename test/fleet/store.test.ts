import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { SharedStore } from '../../src/snapshots/shared/store.ts';
import { joined } from '../support/fleet.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { holdToContract } from '../support/shared-store-contract.ts';
import { needsCommands } from '../support/tools.ts';

describe('the store in Redis', () => {
  let redis: Redis;
  let count = 0;

  before(async function () {
    needsCommands(this, ['redis-server']);
    redis = await startRedis();
  });

  holdToContract(async () => {
    count += 1;
    const prefix = `test-${count}`;
    return {
      connect: async (): Promise<SharedStore> => (await joined(redis.url, { prefix })).store,
      pass: (ms) => sleep(ms),
      async flush() {
        await redis.command('FLUSHALL');
      },
    };
  });

  it('takes nothing for a value that is larger than is taken', async () => {
    const [small, large] = [await joined(redis.url, { maxValueBytes: 4 }), await joined(redis.url)];
    const { generation = '' } = (await large.store.look('a')) ?? {};
    expect(await small.store.put('a', Buffer.alloc(5), { generation, ttlMs: 60_000 })).to.equal(false);
    expect(await large.store.put('a', Buffer.alloc(5), { generation, ttlMs: 60_000 })).to.equal(true);
    expect(await small.store.look('a')).to.deep.equal({ held: undefined, generation });
    expect((await large.store.look('a'))?.held).to.deep.equal(Buffer.alloc(5));
  });
});
