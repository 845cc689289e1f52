import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startHttpUpstream } from '../../../support/platform/http-upstream.ts';
import { startProcess } from '../../../support/process/process.ts';

const CHILD = fileURLToPath(new URL('./without-descriptors.ts', import.meta.url));

describe('a process without a file descriptor for a connection', () => {
  it('is overloaded, says nothing against the upstream, asks once, and has some connections left for what is in flight', async () => {
    const { url } = await startHttpUpstream((_request, response) => {
      response.setHeader('connection', 'close');
      setTimeout(() => response.end('[]'), 20);
    });
    const command = `ulimit -n 64 && exec '${process.execPath}' '${CHILD}' '${url}'`;
    const { stdout, stderr } = await startProcess('sh', ['-c', command]).ended;
    expect(stderr).to.equal('');
    const { without, breakerState, afterwards, again, retried } = JSON.parse(stdout);
    expect(without).to.have.all.keys('[]', 'overloaded');
    expect(without['[]']).to.be.at.least(4);
    expect(breakerState).to.equal('closed');
    expect(afterwards).to.deep.equal({ '[]': 20 });
    expect(again).to.deep.equal({ '[]': 1 });
    expect(retried).to.equal(0);
  });
});
