import { expect } from 'chai';
import fc from 'fast-check';
import { toVersion } from '../../../src/core/mapping/field.ts';

describe('a version', () => {
  for (const [from, to] of [
    ['1.2.3', '1.2.3'],
    ['v1.2', '1.2.0'],
    ['1', '1.0.0'],
    ['V2.3.4', '2.3.4'],
    ['v1.2-rc.1+b5', '1.2.0-rc.1+b5'],
    ['3+build', '3.0.0+build'],
    [' v1.2\n', '1.2.0'],
    ['1.10', '1.10.0'],
  ] as const) {
    it(`${JSON.stringify(from)} becomes ${to}`, () => {
      expect(toVersion(from)).to.equal(to);
    });
  }

  for (const text of [
    'latest',
    '2024.01.02.3',
    'v1.2.3.4',
    'v',
    'vv1',
    '1.',
    '1..2',
    '1.2.x',
    '1.2rc1',
    'v 1.2',
    '1.2-a b',
    '',
  ]) {
    it(`stays as it is where it is none: ${JSON.stringify(text)}`, () => {
      expect(toVersion(text)).to.equal(text);
    });
  }

  it('has three parts or is what the upstream sent, and does not change a second time', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[vV]?[0-9.]{0,8}[-+]?[a-z0-9.+-]{0,6}$/)), (text) => {
        const version = toVersion(text);
        if (version !== text.trim()) expect(version).to.match(/^\d+\.\d+\.\d+(?:[-+]\S*)?$/);
        expect(toVersion(version)).to.equal(version);
      }),
    );
  });
});
