import { expect } from 'chai';
import { countsPage } from '../../../../src/core/mapping/expressions/expression.ts';

/** Expressions, each with expressions of items that it counts, or does not. */
const COUNTING: readonly (readonly [expression: string, items: string, counts: boolean])[] = [
  ['length(projects)', 'projects', true],
  ['length(@)', '@', true],
  ['length(data.list)', 'data.list', true],
  ['length(data)', 'data[?active]', true],
  ['length(data[?active])', 'data[?active]', true],
  ['length(data.list)', 'data.list[].entry', true],
  ['data.length(list)', 'data.list', true],
  ['data | length(list)', 'data.list', true],
  ['total || length(list)', 'list', true],
  ['{ sum: length(list) }.sum', 'list', true],
  ['length(keys(data))', 'values(data)', true],
  ['length("my-list")', '"my-list"', true],
  ['meta.total', 'meta', false],
  ['length', 'length', false],
  ['length(meta.ids)', 'meta.list', false],
  ['length(data.ids)', 'data', false],
  ['meta | length(list)', 'list', false],
  ['length(', 'list', false],
  ['length(list)', 'list[', false],
];

describe('an expression that counts the items of a page', () => {
  for (const [expression, items, counts] of COUNTING) {
    it(`is ${counts ? '' : 'not '}${expression}, of the items ${items}`, () => {
      expect(countsPage(expression, items)).to.equal(counts);
    });
  }
});
