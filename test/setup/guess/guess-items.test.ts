import { expect } from 'chai';
import fc from 'fast-check';
import { compileExpression } from '../../../src/core/mapping/expressions/expression.ts';
import { shapeOfValue } from '../../../src/setup/describe/shape.ts';
import { guessItems } from '../../../src/setup/guess/guess-items.ts';

const guess = (body: unknown) =>
  guessItems(shapeOfValue(body), 'projects').map(({ items, count = 0, item }) => {
    return { items, count, keys: [...item.members.keys()] };
  });

const ITEM = { id: 'a', name: 'A' };

describe('a guess of where a body holds its list', () => {
  const platforms: [string, unknown, string][] = [
    ['the body itself', [ITEM], '@'],
    ['a member that is called as lists are', { data: [ITEM], errors: [] }, 'data'],
    ['a member below', { data: { workspaces: [ITEM] }, meta: { links: [{ rel: 'self' }] } }, 'data.workspaces'],
    ['the member of the name that is asked for', { users: [ITEM], data: [ITEM], projects: [ITEM] }, 'projects'],
    ['a member in the singular', { result: { project: [ITEM] }, users: [ITEM] }, 'result.project'],
    ['a key that has to be quoted', { 'the-items': [ITEM] }, '"the-items"'],
    ['hypermedia', { _embedded: { apps: [ITEM] }, _links: { self: { href: '/apps' } } }, '_embedded.apps'],
    ['items rather than facts about them', { facets: [{ label: 'x' }], results: [ITEM] }, 'results'],
    ['an empty list', { count: 0, results: [] }, 'results'],
  ];
  for (const [what, body, items] of platforms) {
    it(`finds ${what}`, () => {
      expect(guess(body)[0]?.items).to.equal(items);
    });
  }

  it('has the number of items and their members', () => {
    expect(guess({ items: [ITEM, { id: 'b' }] })).to.deep.equal([{ items: 'items', count: 2, keys: ['id', 'name'] }]);
  });

  it('is none where there is no list of objects', () => {
    for (const body of [null, 'text', 5, {}, { error: 'no' }, { tags: ['a', 'b'] }, { a: ITEM, b: ITEM }]) {
      expect(guess(body)).to.deep.equal([]);
    }
  });

  it('finds with its expression as many items as it says, in any body', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        for (const { items, count } of guess(body)) {
          expect(compileExpression(items).evaluate(body)).to.have.length(count);
        }
      }),
    );
  });

  it('looks at a bounded part of a body that has no end', () => {
    const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, {}]));
    expect(guess({ data: [ITEM], wide })).to.deep.equal([{ items: 'data', count: 1, keys: ['id', 'name'] }]);
    expect(guess({ wide: { ...wide, projects: [ITEM] } })).to.deep.equal([]);
  });
});
