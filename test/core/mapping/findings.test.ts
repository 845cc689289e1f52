import { expect } from 'chai';
import {
  addCounts,
  createMapper,
  describeFinding,
  findingsOf,
  type MappingCounts,
  NO_COUNTS,
} from '../../../src/core/mapping/mapper.ts';
import { createPageParser } from '../../../src/core/mapping/page.ts';

const plain = { default: '', values: {}, format: 'none' } as const;
const counts = (more: Partial<MappingCounts>): MappingCounts => ({ ...NO_COUNTS, ...more });

/** What mapping these items comes to, in slices of two. */
function countsOf(items: readonly object[], { where, from = {} }: { where?: string; from?: Record<string, string> }) {
  const names = ['id', 'name', 'category', 'description'];
  const map = createMapper({
    fields: Object.fromEntries(names.map((name) => [name, { ...plain, from: from[name] ?? name }])),
    required: ['id', 'name'],
    where,
    invalidItems: 'drop',
  });
  const page = createPageParser({ items: '@' })(JSON.stringify(items));
  let sum = NO_COUNTS;
  for (let start = 0; start < items.length; start += 2) {
    const { items: _, ...its } = map(page, start, Math.min(start + 2, items.length));
    sum = addCounts(sum, { ...its, repeatedIds: 0 });
  }
  return sum;
}

const tool = (id: number, more: object = {}) => ({ id, name: `Tool ${id}`, ...more });

describe('the warnings of a list', () => {
  it('is a field that has an expression and is empty in every item', () => {
    const from = { category: 'other', description: 'about' };
    const items = [tool(1), tool(2, { about: '' }), tool(3, { about: null })];
    expect(findingsOf(countsOf(items, { from }))).to.deep.equal([
      { finding: 'field_empty', field: 'category' },
      { finding: 'field_empty', field: 'description' },
    ]);
    expect(findingsOf(countsOf([...items, tool(4, { about: 'x' })], { from }))).to.deep.equal([
      { finding: 'field_empty', field: 'category' },
    ]);
    expect(findingsOf(countsOf([tool(4, { about: 'x', other: 'y' }), ...items], { from }))).to.deep.equal([]);
  });

  it('is looked for in the items that are left, wherever the others stand', () => {
    const [dropped, left] = [
      [{ kind: 'a' }, { kind: 'a' }],
      [tool(1), tool(2)],
    ];
    for (const items of [dropped.concat(left as never), left.concat(dropped as never)]) {
      const found = findingsOf(countsOf(items, { from: { category: 'kind' } }));
      expect(found).to.deep.equal([{ finding: 'field_empty', field: 'category' }]);
    }
  });

  it("is described by Portico's own names", () => {
    expect(describeFinding({ finding: 'nothing_left' })).to.equal('nothing is left of a reply that was not empty');
    expect(describeFinding({ finding: 'field_empty', field: 'category' })).to.equal('category is empty in every item');
  });
});

describe('the counts of two parts of a list', () => {
  it('add up', () => {
    const map = (of: Record<string, number>) => new Map(Object.entries(of));
    const a = counts({
      ...{ received: 3, excluded: 1, dropped: 1, dropReason: 'first', overlooked: undefined, repeatedIds: 1 },
      ...{ defaulted: map({ x: 1 }), filled: map({ x: 2 }), empty: ['x', 'y'] },
    });
    const b = counts({
      ...{ received: 2, dropReason: 'second', overlooked: 'some', repeatedIds: 2, empty: ['y', 'z'] },
      ...{ defaulted: map({ x: 1, y: 2 }), filled: map({ x: 1 }), unmapped: map({ x: 1 }) },
    });
    expect(addCounts(a, b)).to.deep.equal({
      ...{ received: 5, excluded: 1, dropped: 1, dropReason: 'first', overlooked: 'some', repeatedIds: 3 },
      ...{ defaulted: map({ x: 2, y: 2 }), filled: map({ x: 3 }), unmapped: map({ x: 1 }), empty: ['y'] },
    });
    expect(addCounts(a, NO_COUNTS)).to.deep.equal(a);
    expect(addCounts(NO_COUNTS, a)).to.deep.equal(a);
  });
});
