import { expect } from 'chai';
import type { PageView } from '../../../src/upstream/pagination/list-read.ts';
import { withoutRepeats } from '../../../src/upstream/pagination/repeats.ts';

async function read(...pages: (readonly unknown[] | { items: readonly unknown[]; exact: readonly unknown[] })[]) {
  async function* source(): AsyncGenerator<PageView> {
    for (const page of pages) {
      if ('exact' in page) yield { items: page.items, body: {}, headers: {}, exactItems: () => page.exact };
      else yield { items: page, body: {}, headers: {} };
    }
  }
  try {
    const all: unknown[] = [];
    for await (const page of withoutRepeats(source())) all.push(...page.items);
    return all;
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
    expect(await read([{ id: 1 }, { id: 1 }], [{ id: 2 }], [{ id: '2' }])).to.have.length(4);
    expect(await read([], [], [])).to.deep.equal([]);
  });

  it('tells numbers apart that only their source text tells apart', async () => {
    const id = 2 ** 60;
    const page = (text: string) => ({ items: [{ id }], exact: [{ id: text }] });
    expect(await read(page('1152921504606846976'), page('1152921504606846977'))).to.have.length(2);
    expect(await read(page('1152921504606846977'), [{ id: 5 }], page('1152921504606846977'))).to.equal('rejected');
  });

  it('is not examined where it is one page after all', async () => {
    const unread = {
      toJSON() {
        throw new Error('examined');
      },
    };
    expect(await read([unread])).to.have.length(1);
  });
});
