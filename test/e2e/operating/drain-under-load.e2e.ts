import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { disagreements } from '../../support/load/outcomes.ts';
import { startLoad } from '../../support/load/run-load.ts';
import { type Scene, setScene } from '../../support/load/scene.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { inFolder } from '../../support/process/process.ts';

const CALLERS = 200;
/** Nobody is known to the upstreams at first: a while for that. */
const CALM_MS = 500;

describe('SIGTERM in the middle of load', function () {
  this.timeout(120_000);
  let scene: Scene | undefined;

  after(() => scene?.close());

  it('loses no accepted request, logs each as its caller saw it, and exits with 0', async () => {
    await inFolder(async (folder) => {
      scene = await setScene(folder, CALLERS);
      const { portico } = scene;
      const load = startLoad({ ...scene, name: 'drained' });
      await sleep(CALM_MS);
      scene.flap(true);
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
      // Nor has Portico begun it: what it begins is in its log, and the caller has been given just that answer.
      const lines = linesIn(stdout);
      expect(disagreements(load, lines).slice(0, 20)).to.deep.equal([]);
      expect(lines.at(-1)).to.include({ msg: 'drained' });
    });
  });
});
