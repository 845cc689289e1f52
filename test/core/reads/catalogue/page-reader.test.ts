import { expect } from 'chai';
import { createPageParser } from '../../../../src/core/mapping/page.ts';
import { createPageReader, createPageTurns, SMALL_BYTES } from '../../../../src/core/reads/catalogue/page-reader.ts';
import { turnsDuring } from '../../../support/a-while.ts';
import { errorOf } from '../snapshots/fake-loader.ts';
import { listWith, mapperWith } from './loader-over.ts';

describe('a page', () => {
  const items = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `id-${index}`, name: 'n' }));

  const turns = createPageTurns();
  function read(body: unknown, first = true, signal = new AbortController().signal, maxItems = 1000, where?: string) {
    const parse = createPageParser({ items: 'things' });
    const readPage = createPageReader(
      {
        list: listWith({ maxItems }),
        maxPageValues: 250_000,
        parse,
        map: mapperWith({ where, invalidItems: where ? 'drop' : 'fail' }),
      },
      turns,
    );
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return readPage({ body: Buffer.from(text), headers: {}, first, signal, spend: () => {} });
  }

  it('is invalid where it is none, would be costly to parse, or where no list can be made of it', async () => {
    for (const [body, reason] of [
      ['no JSON', 'the page is not JSON'],
      [{ things: 5 }, 'the page has no list of items at the configured place, but a number'],
      [`[${'{},'.repeat(200_000)}{}]`, 'the page has more values than maxPageValues'],
      [
        JSON.stringify(Object.fromEntries(Array.from({ length: 26_000 }, (_, index) => [index, 1]))),
        'the page has more values than maxPageValues',
      ],
      [`${'['.repeat(40_000)}${']'.repeat(40_000)}`, 'the page nests deeper than 1000 levels'],
      [{ things: items(1001) }, 'the list has more items than maxItems: 1000'],
      [{ things: [...items(300), { id: {}, name: 'n' }] }, 'field id of item 300 is an object or a list'],
    ] as const) {
      expect(await errorOf(read(body))).to.include({ code: 'upstream_invalid', reason });
    }
  });

  it('has a digest of each item, but for a first page that is the whole list', async () => {
    for (const [body, first, count] of [
      [{ things: items(2) }, true, undefined],
      [{ things: items(201), next: 'more' }, true, 201],
      [{ things: items(2) }, false, 2],
    ] as const) {
      const digests = (await read(body, first)).digests?.match(/.{12}/gs);
      expect(digests && new Set(digests).size).to.equal(count);
    }
  });

  it('has the ids of all its items, also of those that where leaves out or that cannot be mapped', async () => {
    const idsOf = async (things: readonly object[]) => {
      const { ids, keptIds } = await read({ things }, false, new AbortController().signal, 10, "id != 'b'");
      return [ids, keptIds].map((digests) => digests?.match(/.{12}/gs));
    };
    const [ids, kept] = await idsOf([{ id: 'a', name: 'A' }, { id: 'b', seen: 1 }, { name: 'no id' }]);
    expect([new Set(ids).size, kept?.length]).to.deep.equal([3, 1]);
    expect(kept?.[0]).to.equal(ids?.[0]);
    const [again] = await idsOf([{ id: 'b', seen: 2 }, { name: 'no id' }]);
    expect(again).to.deep.equal(ids?.slice(1));
  });

  it('is mapped in steps if it is large, one at a time, and the others are read behind it', async () => {
    const { signal } = new AbortController();
    const counts = [50_000, 40_000, 2];
    const pages = Promise.all(
      counts.map((count) => read({ things: items(count), beside: 'x'.repeat(SMALL_BYTES) }, true, signal, 50_000)),
    );
    expect(await turnsDuring(pages)).to.be.above(5);
    expect((await pages).map(({ count }) => count)).to.deep.equal(counts);
  });
});
