import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newFolder } from '../support/process/serving.ts';
import { needsRegistry } from '../support/tools.ts';
import { type NodeOnHand, nodeFromNpm, runOn } from './nodes.ts';
import { installIn, pack } from './packed.ts';

/** The first Node that reads a top-level `await` at all, those that people still have, and the last that is too old. */
const OLD_NODES = ['14', '18', '20', '22.19.0'];

const IMPORTS = { 'import.mjs': 'portico', 'import-testing.mjs': 'portico/testing' };

describe('the package on a Node that is too old', function () {
  this.timeout(300_000);
  let project: string;

  before(async function () {
    await needsRegistry(this);
    const { tarball } = await pack();
    project = await newFolder();
    await installIn(project, [tarball]);
    for (const [file, name] of Object.entries(IMPORTS)) {
      await writeFile(join(project, file), `import '${name}';\nconsole.log('imported');\n`);
    }
  });

  for (const version of OLD_NODES) {
    describe(version, () => {
      let node: NodeOnHand;
      before(async () => {
        node = await nodeFromNpm(version);
      });

      it('fails with one line when it is run', async () => {
        const { code, stdout, stderr } = await runOn(node, ['node_modules/portico/dist/main.js', '--version'], project);
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr).to.match(new RegExp(`^portico: needs Node 22\\.20 or newer, and this is ${version}.*\n$`));
      });

      for (const [file, name] of Object.entries(IMPORTS)) {
        it(`fails with one line when ${name} is imported`, async () => {
          const { code, stdout, stderr } = await runOn(node, [file], project);
          expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
          // The lines around it are Node's own, and name nothing of Portico's.
          const said = stderr.split('\n').filter((line) => /portico/i.test(line));
          expect(said).to.have.length(1);
          expect(said[0]).to.match(
            new RegExp(`^\\[Error: portico needs Node 22\\.20 or newer, and this is ${version}.*\\]$`),
          );
        });
      }
    });
  }
});
