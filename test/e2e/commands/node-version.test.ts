import { expect } from 'chai';
import { porticoEnvironment, runPortico, startProcess } from '../../support/process/process.ts';

/** A module that has the process take its Node for another one. */
const takenFor = (version: string) =>
  `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
  )}`;

describe('the Node that runs portico', () => {
  for (const [version, runs] of [
    ['20.19.0', false],
    ['22.19.0', false],
    ['22.20.0', true],
    ['24.0.0', true],
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

  for (const entry of ['portico.ts', 'portico-testing.ts']) {
    it(`is rejected by an import of ${entry}, with an error of one line`, async () => {
      const url = new URL(`../../../src/${entry}`, import.meta.url).href;
      const print = "(error) => console.log('%s', error.stack)";
      const args = ['--import', takenFor('20.19.0'), '--input-type=module', '-e', `import('${url}').catch(${print})`];
      const { stdout, stderr } = await startProcess(process.execPath, args, { env: porticoEnvironment() }).ended;
      expect({ stdout, stderr }).to.deep.equal({
        stdout: 'Error: portico needs Node 22.20 or newer, and this is 20.19.0\n',
        stderr: '',
      });
    });
  }
});
