import { expect } from 'chai';
import { digestsOf } from '../../../../src/core/upstream/pagination/list-read.ts';
import { type ListRequest, type PageView, paginate } from '../../../../src/core/upstream/pagination/paginate.ts';

/** Reads these pages, by link. */
async function read(...pages: (readonly unknown[])[]) {
  const views: PageView[] = pages.map((items, index) => ({
    ...{ count: items.length, said: [], digests: digestsOf(items) },
    headers: index + 1 < pages.length ? { link: `</${index + 1}>; rel="next"` } : {},
  }));
  const [first, ...others] = views;
  const list: ListRequest = {
    ...{
      baseUrl: 'https://platform.example',
      path: '/list',
      query: {},
      maxItems: 100,
      maxPages: 100,
      maxNextBytes: 100,
    },
    pagination: { kind: 'link', sizeParam: null, size: 2, ignoreSigns: ['fullPage'] },
  };
  const fetchPage = async () => others.shift() as PageView;
  try {
    let count = 0;
    for await (const page of paginate(list, first as PageView, fetchPage, new AbortController().signal))
      count += page.count;
    return count;
  } catch (error) {
    expect(error).to.include({ code: 'upstream_invalid', reason: 'an item of an earlier page came again' });
    return 'rejected';
  }
}

describe('a read of several pages', () => {
  it('is rejected where an item of any earlier page comes again', async () => {
    expect(await read([{ id: 1 }], [{ id: 1 }])).to.equal('rejected');
    expect(await read([{ id: 1 }, { id: 2 }], [{ id: 3 }], [], [{ id: 4 }, { id: 2 }])).to.equal('rejected');
    expect(await read([], [{ id: 1 }], [{ id: 1 }])).to.equal('rejected');
  });

  it('passes where all differ, or a page repeats within itself', async () => {
    expect(await read([{ id: 1 }, { id: 1 }], [{ id: 2 }], [{ id: '2' }])).to.equal(4);
    expect(await read([], [], [])).to.equal(0);
  });

  it('is invalid where an item nests deeper than the stack is', () => {
    // What JSON.stringify does in Node 22.
    const item = {
      toJSON() {
        throw new RangeError('Maximum call stack size exceeded');
      },
    };
    expect(() => digestsOf([item]))
      .to.throw()
      .that.includes({ code: 'upstream_invalid', reason: 'an item nests too deeply' });
  });
});
