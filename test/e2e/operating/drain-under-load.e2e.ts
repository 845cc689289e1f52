import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startLoad } from '../../support/load/run-load.ts';
import { setScene } from '../../support/load/scene.ts';
import { linesIn } from '../../support/process/json-lines.ts';

const CALLERS = Array.from({ length: 200 }, (_, index) => `drained-${index}`);

describe('SIGTERM in the middle of load', function () {
  this.timeout(120_000);

  it('loses no accepted request, logs each as its caller saw it, and exits with 0', async () => {
    const { portico, url, flap } = await setScene();
    const load = startLoad({ url, callers: CALLERS });
    await sleep(500);
    flap(true);
    await sleep(3000);
    portico.child.kill('SIGTERM');
    // What had been sent whole before the signal, over connections that Portico is known to have accepted. Some callers
    // are about to hang up.
    const owed = load.owed();
    await load.wither();
    const { code, stdout, stderr } = await portico.ended;

    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(load.mistakes).to.deep.equal([]);
    expect(owed.length).to.be.above(0);
    expect(owed.filter((id) => load.fates.get(id)?.kind === 'closed')).to.deep.equal([]);
    // Whatever else was not answered has not brought a single byte, so that it may be sent again elsewhere.
    const closed = [...load.fates.values()].filter((fate) => fate.kind === 'closed');
    expect(closed.filter(({ bytes }) => bytes > 0)).to.deep.equal([]);
    // Nor has Portico begun it: what it begins is in its log, once, and the caller has been given just that answer.
    const lines = linesIn(stdout);
    const access = lines.filter(({ msg }) => msg === 'request');
    const logged = new Map(access.map(({ requestId, outcome }) => [requestId, outcome]));
    expect(logged.size).to.equal(access.length);
    const disagreements = [...load.fates].filter(([id, fate]) => {
      if (fate.kind === 'left') return false;
      if (fate.kind === 'answered' && fate.outcome === 'message') return !logged.has(id);
      return logged.get(id) !== (fate.kind === 'answered' ? fate.outcome : undefined);
    });
    expect(disagreements.slice(0, 20)).to.deep.equal([]);
    expect(lines.at(-1)).to.include({ msg: 'drained' });
  });
});
