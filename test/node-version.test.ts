import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { nodeIssue } from '../src/node-version.ts';

describe('the version of Node', () => {
  it('must be that of package.json', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, major = 0, minor = 0] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? [];
    expect(nodeIssue(`${major}.${minor}.0`)).to.equal(undefined);
    expect(nodeIssue(`${major}.${Number(minor) - 1}.9`)).to.contain(`Node ${major}.${minor} or newer`);
  });

  for (const version of ['22.19.0', '21.9.9', '20.20.5', '9.0.0']) {
    it(`${version} is too old`, () => {
      expect(nodeIssue(version)).to.equal(`needs Node 22.20 or newer, and this is ${version}`);
    });
  }

  for (const version of ['22.20.0', '22.21.1', '23.0.0', '26.0.0']) {
    it(`${version} is supported`, () => {
      expect(nodeIssue(version)).to.equal(undefined);
    });
  }
});
