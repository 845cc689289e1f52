import { expect } from 'chai';
import { bareNamesOf } from '../../../../src/core/mapping/expressions/bare-names.ts';

const namesOf = (expression: string) => bareNamesOf(expression).map(({ name, as, quoted }) => [name, as, quoted]);

describe('the bare names of an expression', () => {
  const cases: Readonly<Record<string, readonly (readonly [name: string, as: string, quoted: string])[]>> = {
    'type == tab': [['tab', 'compared', "type == 'tab'"]],
    'type == "tab"': [['tab', 'compared', "type == 'tab'"]],
    'type != tab': [['tab', 'compared', "type != 'tab'"]],
    'state.current == active': [['active', 'compared', "state.current == 'active'"]],
    'active == state.current': [['active', 'compared', "'active' == state.current"]],
    'enabled == true': [['true', 'compared', 'enabled == `true`']],
    'type == "it\'s \\\\"': [["it's \\", 'compared', "type == 'it\\'s \\\\'"]],
    'data[?kind == workflow].x': [['workflow', 'compared', "kind == 'workflow'"]],
    'a == b && !(c != d)': [
      ['b', 'compared', "a == 'b'"],
      ['d', 'compared', "c != 'd'"],
    ],
    other: [['other', 'value', "'other'"]],
    'category || other': [['other', 'fallback', "'other'"]],
    'a && B || C': [
      ['B', 'fallback', "'B'"],
      ['C', 'fallback', "'C'"],
    ],
    'a ? b : c': [
      ['b', 'fallback', "'b'"],
      ['c', 'fallback', "'c'"],
    ],
    "type == 'tab'": [],
    'type == `"tab"`': [],
    'type == @.tab': [],
    'installed.version == latest.version': [],
    'a > b': [],
    'a.b': [],
    'contains(tags, installed)': [],
    'length(items)': [],
    "name || 'Unnamed'": [],
  };
  for (const [expression, expected] of Object.entries(cases)) {
    it(`are found in ${expression}`, () => {
      expect(namesOf(expression)).to.deep.equal(expected);
    });
  }
});
