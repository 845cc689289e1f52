import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeBug } from '../../src/commands/process-end.ts';
import { inFolder, porticoEnvironment, startProcess } from '../support/process/process.ts';

describe('the end of a process', () => {
  it('waits for nothing in the thread pool while a name is being looked up, and has its exit code', async function () {
    if (process.platform !== 'linux') this.skip();
    await inFolder(async (folder) => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      // A name server that is silent needs rights to set up: a pipe that nobody writes into takes a thread as well.
      const source = `
        import { open } from 'node:fs';
        import { endProcess } from ${JSON.stringify(new URL('../../src/commands/process-end.ts', import.meta.url))};
        open(${JSON.stringify(pipe)}, 'r', () => {});
        process.getActiveResourcesInfo = () => ['GetAddrInfoReqWrap'];
        process.once('exit', (code) => process.stdout.write('last words of ' + code));
        setTimeout(() => endProcess(3), 50);`;
      const { ended } = startProcess(process.execPath, ['--input-type=module', '--eval', source], {
        env: porticoEnvironment(),
      });
      const { code, stdout, stderr } = await ended;
      expect({ code, stdout, stderr }).to.deep.equal({ code: 3, stdout: 'last words of 3', stderr: '' });
    });
  });
});

describe('the report of an uncaught error', () => {
  const SECRET = 'token-that-nobody-may-read';
  const changed = new Error(`a\n    at ${SECRET}`);
  changed.message = 'b\n';
  for (const [what, error, kind] of [
    ['whose message looks like a stack', new Error(`one\n    at ${SECRET}\n    at two`), 'Error'],
    ['whose message was changed', changed, 'Error'],
    ['with a name of its own', Object.assign(new Error('x'), { name: `Bearer ${SECRET}` }), 'Error'],
    ['without a stack', Object.assign(new Error(SECRET), { stack: undefined }), 'Error'],
    ['that is nothing', undefined, 'undefined'],
  ] as const) {
    it(`is its kind, and nothing of its text: one ${what}`, () => {
      const told = describeBug(error);
      expect(told).to.include({ error: kind });
      expect(JSON.stringify(told)).not.to.contain(SECRET);
    });
  }
});
