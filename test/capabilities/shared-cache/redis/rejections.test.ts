import { expect } from 'chai';
import type { Answer, Call } from '../../../../src/capabilities/shared-cache/redis/link.ts';
import { createNaming } from '../../../../src/capabilities/shared-cache/redis/names.ts';
import { createRejections } from '../../../../src/capabilities/shared-cache/redis/rejections.ts';
import type { Events } from '../../../../src/core/kernel/events.ts';
import { eventually } from '../../../support/eventually.ts';
import { join, joined } from '../../../support/fleet/fleet.ts';
import { type Redis, startRedis, startRedisProxy } from '../../../support/fleet/redis.ts';
import { holdToRejectionsContract } from '../../../support/fleet/rejections-contract.ts';
import { needsCommands } from '../../../support/tools.ts';

describe('rejections that replicas tell each other by Redis', () => {
  let redis: Redis;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  beforeEach(async () => {
    redis = await startRedis();
  });

  async function replica(url = redis.url, prefix = 'portico', events: Events = {}) {
    const fleet = await joined(url, { prefix, events });
    const heard: string[] = [];
    fleet.rejections.onTold((sealed) => heard.push(...sealed));
    return { fleet, heard, tell: fleet.rejections.tell };
  }

  /** Has one more entry for each of these where they are told. */
  async function add(...sealed: readonly string[]): Promise<void> {
    const script = `
for _, one in ipairs(ARGV) do redis.call('XADD', 'portico:{0}:rejections', '*', 'from', 'x', 'rejections', one) end`;
    await redis.command('EVAL', script, '0', ...sealed);
  }

  describe('as the contract has it', () => {
    holdToRejectionsContract(async () => (await joined(redis.url)).rejections);
  });

  it('are heard by whoever has just started, for a minute', async () => {
    const one = await replica();
    const two = await replica();
    one.tell('sealed');
    await eventually(() => two.heard.length > 0);
    const heard: string[] = [];
    join(redis.url).rejections.onTold((sealed) => heard.push(...sealed));
    await eventually(() => heard.length > 0);
    expect(heard).to.deep.equal(['sealed']);
    const left = Number(await redis.command('PTTL', 'portico:{0}:rejections'));
    expect(left).to.be.within(1, 60_000);
  });

  it('are all heard, and once each, however many have come meanwhile', async () => {
    const all = Array.from({ length: 200 }, (_, index) => `sealed-${index}`);
    await add(...all);
    const heard: string[] = [];
    join(redis.url).rejections.onTold((sealed) => heard.push(...sealed));
    await eventually(() => heard.includes('sealed-199'));
    await add('last');
    await eventually(() => heard.includes('last'));
    expect(heard).to.deep.equal([...all, 'last']);
  });

  for (const [what, happen] of [
    ['emptied', () => redis.command('FLUSHALL')],
    ['started anew', () => redis.stop('SIGKILL').then(() => redis.start())],
    [
      'something else for a while, where they stood',
      async () => {
        await redis.command('SET', 'portico:{0}:rejections', 'of somebody else');
        await eventually(async () => String(await redis.command('INFO', 'errorstats')).includes('WRONGTYPE'));
        await redis.command('DEL', 'portico:{0}:rejections');
      },
    ],
    [
      'ahead of its time for a while',
      async () => {
        await redis.command('XADD', 'portico:{0}:rejections', '9999999999999999-0', 'from', 'x', 'rejections', 'evil');
        await eventually(async () => (await joined(redis.url)).isUp);
        await redis.command('DEL', 'portico:{0}:rejections');
      },
    ],
  ] as const) {
    it(`go on where Redis was ${what}`, async () => {
      const [one, two] = [await replica(), await replica()];
      one.tell('before');
      await eventually(() => two.heard.includes('before'));
      await happen();
      // One that is told while Redis cannot be asked is lost.
      await eventually(() => {
        one.tell('after');
        return two.heard.includes('after');
      });
    });
  }

  it('take nothing from evictions: those are heard, and none is held for missed', async () => {
    const [one, two] = [await replica(), await replica()];
    const evicted: unknown[] = [];
    two.fleet.store.onEvicted((names) => evicted.push(names));
    for (let index = 0; index < 3000; index += 1) one.tell(`sealed-${index}`);
    await one.fleet.store.evict(['a']);
    await eventually(() => two.heard.includes('sealed-2999') && evicted.length > 0);
    expect(evicted).to.deep.equal([['a']]);
  });

  it('wait in bounds while Redis is away: the newest are told', async () => {
    const proxy = await startRedisProxy(redis);
    const [one, two] = [await replica(proxy.redisUrl), await replica()];
    await proxy.refuse();
    await eventually(() => !one.fleet.isUp);
    for (let index = 0; index < 1500; index += 1) one.tell(`sealed-${index}`);
    await proxy.accept();
    await eventually(() => two.heard.includes('sealed-1499'));
    expect(two.heard).to.have.length(1000);
    expect(two.heard[0]).to.equal('sealed-500');
  });

  it('are kept in bounds by Redis', async () => {
    const [one] = [await replica()];
    await add(...Array.from({ length: 1500 }, (_, index) => `sealed-${index}`));
    one.tell('sealed');
    await eventually(async () => Number(await redis.command('XLEN', 'portico:{0}:rejections')) < 1200);
  });

  it('are counted as they are told', async () => {
    let told = 0;
    const one = await replica(redis.url, 'portico', {
      sharedRejectionsTold: ({ rejections }) => {
        told += rejections;
      },
    });
    for (let index = 0; index < 150; index += 1) one.tell(`sealed-${index}`);
    await eventually(() => told === 150);
  });
});

describe('rejections that a store makes up', () => {
  const ok = (...more: unknown[]): Answer => ({ said: 'ok', more });
  const entry = (from: unknown, text: unknown) => [Buffer.from('1-0'), ['from', from, 'rejections', text]];

  it('do not keep a look from telling all that waits', async () => {
    const rejections = createRejections({ naming: createNaming('portico', false), events: {} });
    for (let index = 0; index < 250; index += 1) rejections.tell(`${index}`);
    const told: number[] = [];
    await rejections.look(async ({ args }) => {
      told.push(String(args[1]).split(' ').length);
      return ok('1-0', []);
    });
    expect(told).to.deep.equal([100, 100, 50]);
  });

  /** A look after which the store has answered so, one answer after the other; what was heard and asked. */
  async function look(...answers: readonly Answer[]) {
    const rejections = createRejections({ naming: createNaming('portico', false), events: {} });
    const heard: string[] = [];
    const asked: Call[] = [];
    rejections.onTold((sealed) => heard.push(...sealed));
    const again = () =>
      rejections.look(async (call) => {
        asked.push(call);
        return answers[asked.length - 1] ?? { said: 'unavailable' };
      });
    await again();
    return { heard, asked, again };
  }

  for (const [what, more] of [
    ['no list', ['1-0', 'x']],
    ['nothing', []],
    ['entries that are none', ['1-0', [5, null, 'x']]],
    ['entries without fields', ['1-0', [['1-0', null]]]],
    ['a text that is none', ['1-0', [entry(Buffer.from('x'), 5)]]],
    ['a text that is too long', ['1-0', [entry(Buffer.from('x'), Buffer.alloc(60_000, 'x'))]]],
  ] as const) {
    it(`are nothing to go by: ${what}`, async () => {
      expect((await look(ok(...more))).heard).to.deep.equal([]);
    });
  }

  it('are a hundred at a time at most, however many it brings', async () => {
    const text = Buffer.from('x '.repeat(5000));
    expect((await look(ok('1-0', [entry(Buffer.from('x'), text)]))).heard).to.have.length(100);
    const entries = Array.from({ length: 1000 }, () => entry(Buffer.from('x'), Buffer.from('a')));
    const { heard, asked } = await look(...Array.from({ length: 50 }, () => ok('1-0', entries)));
    expect(asked).to.have.length(10);
    expect(heard).to.have.length(640);
  });

  it('are skipped where they are more than one look is for', async () => {
    const entries = Array.from({ length: 64 }, () => entry(Buffer.from('x'), Buffer.from('a')));
    const { asked, again } = await look(...Array.from({ length: 20 }, () => ok('7-7', entries)));
    await again();
    expect(asked.map(({ args }) => args.at(-2))).to.deep.equal([
      '0-0',
      ...Array(9).fill('1-0'),
      '7-7',
      ...Array(9).fill('1-0'),
    ]);
  });

  it('have no look fail that comes after them', async () => {
    const { asked, again } = await look(ok('no id', []), ok('7-1', []), ok(`${'9'.repeat(20)}-0`, []));
    await again();
    await again();
    await again();
    expect(asked.map(({ args }) => args.at(-2))).to.deep.equal(['0-0', '0-0', '7-1', '0-0']);
  });
});
