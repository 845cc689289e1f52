import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { joined } from '../../support/fleet/join.ts';
import { type Redis, startRedis } from '../../support/fleet/redis.ts';
import { needsCommands } from '../../support/tools.ts';

const TTL_MS = 60_000;

describe('counters in Redis', () => {
  let redis: Redis;

  before(async function () {
    needsCommands(this, ['redis-server']);
    redis = await startRedis();
  });

  async function keyOf(name: string): Promise<string> {
    const { counts } = await joined(redis.url);
    await redis.command('FLUSHALL');
    await counts.add(new Map([[name, 1]]), TTL_MS);
    const [key = ''] = (await redis.command('KEYS', '*')) as string[];
    return key;
  }

  it('count in windows that begin with the first unit, under names that only replicas can derive', async () => {
    const [one, other] = [(await joined(redis.url)).counts, (await joined(redis.url)).counts];
    const [first] = await one.add(new Map([[one.nameOf('203.0.113.7'), 3]]), TTL_MS);
    expect(first?.total).to.equal(3);
    // Redis's clock continues between two commands.
    expect(first?.restMs).to.be.within(TTL_MS - 1000, TTL_MS);
    await sleep(5);
    const [counted] = await other.add(new Map([[other.nameOf('203.0.113.7'), 4]]), TTL_MS);
    expect(counted?.total).to.equal(7);
    expect(counted?.restMs).to.be.within(1, TTL_MS - 1);
    expect(String(await redis.command('KEYS', '*'))).to.match(/^portico:\{counters\}:[\w-]{43}$/);
  });

  it('have no window that ends later than one that begins now, whatever Redis holds', async () => {
    const key = await keyOf('a');
    const { counts } = await joined(redis.url);
    await redis.command('SET', key, '5', 'PX', '31536000000');
    expect(await counts.add(new Map([['a', 1]]), TTL_MS)).to.deep.equal([{ total: 6, restMs: TTL_MS }]);
    await redis.command('SET', key, '5');
    const [counted] = await counts.add(new Map([['a', 1]]), TTL_MS);
    expect(counted?.total).to.equal(6);
    expect(counted?.restMs).to.be.within(TTL_MS - 1000, TTL_MS);
    expect(await redis.command('PTTL', key)).to.be.within(1, TTL_MS);
  });
});
