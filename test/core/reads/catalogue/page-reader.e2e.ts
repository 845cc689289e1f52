import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startProcess } from '../../../support/process/process.ts';

const COSTLY = fileURLToPath(new URL('./costly-loads.ts', import.meta.url));

describe('pages that take as much memory as they may', () => {
  it('are not kept while others are waited for: 32 lists of them load within a heap of 256 MB', async () => {
    const { stdout, stderr } = await startProcess(process.execPath, ['--max-old-space-size=256', COSTLY]).ended;
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout)).to.deep.equal({ whole: 32 });
  });
});
