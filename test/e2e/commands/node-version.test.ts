import { expect } from 'chai';
import { runPortico } from '../../support/process/process.ts';

/** A module that has the process take its Node for another one. */
const takenFor = (version: string) =>
  `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
  )}`;

describe('the Node that runs portico', () => {
  for (const [version, runs] of [
    ['22.19.0', false],
    ['22.20.0', true],
  ] as const) {
    it(`${runs ? 'may be' : 'is refused, in one line, where it is'} ${version}`, async () => {
      const { NODE_OPTIONS = '' } = process.env;
      const env = { NODE_OPTIONS: `${NODE_OPTIONS} --import ${takenFor(version)}` };
      const { code, stdout, stderr } = await runPortico(['--version'], env).ended;
      if (runs) {
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        return;
      }
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(/^portico: [^\n]*22\.20[^\n]*\n$/);
    });
  }
});
