import { expect } from 'chai';
import { countsPage } from '../../../../src/core/mapping/expressions/expression.ts';

describe('an expression that counts the items of a page', () => {
  const COUNTING: readonly (readonly [expression: string, items: string])[] = [
    ['length(projects)', 'projects'],
    ['length(@)', '@'],
    ['length(data.list)', 'data.list'],
    ['length(data)', 'data[?active]'],
    ['length(data[?active])', 'data[?active]'],
    ['length(data.list)', 'data.list[].entry'],
    ['data.length(list)', 'data.list'],
    ['data | length(list)', 'data.list'],
    ['data.list | length(@)', 'data.list'],
    ['total || length(list)', 'list'],
    ['{ sum: length(list) }.sum', 'list'],
    ['length(keys(data))', 'values(data)'],
    ['length("my-list")', '"my-list"'],
  ];
  for (const [expression, items] of COUNTING) {
    it(`is ${expression}, of the items ${items}`, () => {
      expect(countsPage(expression, items)).to.equal(true);
    });
  }

  const OTHERS: readonly (readonly [expression: string, items: string])[] = [
    ['total', 'list'],
    ['meta.total', 'meta'],
    ['length', 'length'],
    ['length(ids)', 'list'],
    ['length(meta.ids)', 'meta.list'],
    ['length(data.ids)', 'data'],
    ['meta | length(list)', 'list'],
    ['length(', 'list'],
    ['length(list)', 'list['],
  ];
  for (const [expression, items] of OTHERS) {
    it(`is not ${expression}, of the items ${items}`, () => {
      expect(countsPage(expression, items)).to.equal(false);
    });
  }
});
