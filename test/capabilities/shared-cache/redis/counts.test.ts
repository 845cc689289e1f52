import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createCounts } from '../../../../src/capabilities/shared-cache/redis/counts.ts';
import type { Answer, Call } from '../../../../src/capabilities/shared-cache/redis/link.ts';
import { createNaming } from '../../../../src/capabilities/shared-cache/redis/names.ts';
import { joined } from '../../../support/fleet/fleet.ts';
import { startRedis } from '../../../support/fleet/redis.ts';
import { needsCommands } from '../../../support/tools.ts';

describe('what replicas count together', () => {
  it('is counted in windows that begin with the first, and end', async function () {
    needsCommands(this, ['redis-server']);
    const redis = await startRedis();
    const { counts } = await joined(redis.url);
    expect(await counts.add(new Map([['a', 3]]), 60_000)).to.deep.equal([{ total: 3, restMs: 60_000 }]);
    await sleep(5);
    const [counted] = await counts.add(new Map([['a', 4]]), 60_000);
    expect(counted?.total).to.equal(7);
    expect(counted?.restMs).to.be.within(1, 59_999);
    expect(await redis.command('PTTL', 'portico:{0}:count:a')).to.be.within(1, 59_999);
  });

  it('is counted anew within one window, whatever stood there and however long it was to stay', async function () {
    needsCommands(this, ['redis-server']);
    const redis = await startRedis();
    const { counts } = await joined(redis.url);
    const key = (name: string) => `portico:{0}:count:${name}`;
    await redis.command('SET', key('year'), '999999', 'PX', '31536000000');
    await redis.command('SET', key('endless'), '999999');
    await redis.command('SET', key('text'), 'no number');
    await redis.command('RPUSH', key('list'), 'one');
    await redis.command('SET', key('edge'), '9223372036854775807');
    await redis.command('SET', key('negative'), '-999999', 'PX', '1000');
    const names = ['year', 'endless', 'text', 'list', 'edge', 'negative', 'sound'];
    const found = await counts.add(new Map(names.map((name) => [name, 2])), 60_000);
    expect(found).to.deep.equal(names.map(() => ({ total: 2, restMs: 60_000 })));
    for (const name of names) expect(await redis.command('PTTL', key(name))).to.be.within(1, 60_000);
  });

  it('is believed for a window at most', async () => {
    const { counts } = storeThatSays(() => ({ said: 'ok', more: [[[5, 31_536_000_000]]] }));
    expect(await counts.add(new Map([['a', 1]]), 1000)).to.deep.equal([{ total: 5, restMs: 1000 }]);
  });

  /** Counts before a store that answers this. */
  function storeThatSays(answer: (call: Call) => Answer, cluster = false) {
    const asked: Call[] = [];
    const connection = {
      async ask(call: Call) {
        asked.push(call);
        return answer(call);
      },
      ...{ isUp: true, open() {}, close() {} },
    };
    return { asked, counts: createCounts({ connection, naming: createNaming('portico', cluster) }) };
  }

  for (const [what, answer] of [
    ['nothing', { said: 'timeout' }],
    ['no list', { said: 'ok', more: [5] }],
    ['fewer than were asked for', { said: 'ok', more: [[]] }],
    ['something else than counts', { said: 'ok', more: [[5, null]] }],
    [
      'counts that are none',
      {
        said: 'ok',
        more: [
          [
            ['1', 10],
            [1, Number.NaN],
          ],
        ],
      },
    ],
    ['parts of counts', { said: 'ok', more: [[[1.5, 10], [1]]] }],
  ] as const) {
    it(`is unknown where the store says ${what}`, async () => {
      const { counts } = storeThatSays(() => answer);
      const units = new Map([
        ['a', 1],
        ['b', 2],
      ]);
      expect(await counts.add(units, 1000)).to.deep.equal([undefined, undefined]);
    });
  }

  it('is asked in steps, of what stands together, and given in order', async () => {
    const totals = ({ keys, args }: Call): Answer => ({
      ...{ said: 'ok', more: [keys.map((_, index) => [Number(args[index + 1]), 1000])] },
    });
    const units = new Map(Array.from({ length: 300 }, (_, index) => [`${index}`, index] as const));
    const expected = [...units.values()].map((total) => ({ total, restMs: 1000 }));
    const { asked, counts } = storeThatSays(totals);
    expect(await counts.add(units, 1000)).to.deep.equal(expected);
    expect(asked.map(({ keys }) => keys.length)).to.deep.equal([128, 128, 44]);
    const spread = storeThatSays(totals, true);
    expect(await spread.counts.add(units, 1000)).to.deep.equal(expected);
    for (const { keys } of spread.asked) {
      expect(new Set(keys.map((key) => /\{\d+\}/.exec(key)?.[0])).size).to.equal(1);
    }
  });
});
