import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ACME_KEY, createAcme } from '../docs/walk/acme-platform.ts';
import { listen } from '../support/listening.ts';
import { porticoEnvironment, startPortico } from '../support/process/process.ts';
import { newFolder } from '../support/process/serving.ts';
import { needsRegistry, runTool } from '../support/tools.ts';
import { NODES, type NodeOnHand } from './nodes.ts';
import { installIn, pack } from './packed.ts';

/** Free ports, so that nothing else on the machine is in the way. */
const PORTS = 'http: { port: 0 }\nadmin: { port: 0 }\n';

const KEY = { PORTICO_TOKEN: ACME_KEY };

describe('the first minutes with the package', function () {
  this.timeout(300_000);
  let tarball: string;
  let document: string;
  let url: string;

  before(async function () {
    await needsRegistry(this);
    ({ tarball } = await pack());
    ({ url } = await listen(createAcme()));
    const published = await readFile(new URL('../docs/walk/acme.openapi.yaml', import.meta.url), 'utf8');
    document = published.replaceAll('https://soar.acme.example', url);
  });

  for (const [name, find] of Object.entries(NODES)) {
    describe(`on ${name}`, () => {
      let node: NodeOnHand;
      let folder: string;
      let portico: string;

      before(async () => {
        node = await find();
        const project = await newFolder('walk');
        await installIn(project, [tarball], node.env);
        portico = join(project, 'node_modules/.bin/portico');
        folder = await newFolder('empty');
        await writeFile(join(folder, 'openapi.yaml'), document);
      });

      const run = (args: readonly string[], env = {}) =>
        runTool(portico, args, folder, { ...node.env, PLATFORM_URL: url, ...env });

      it('proposes settings from the OpenAPI document of the platform', async () => {
        const said = await run(['init', '--openapi', 'openapi.yaml', '--yes']);
        expect(said).to.contain('proposes projects, workflows, tools of platform');
        await appendFile(join(folder, 'portico.yaml'), PORTS);
      });

      it('reports a token that the platform refuses', async () => {
        const refused = await run(['init', '--from', `${url}/api/v2`, '--yes', 'other.yaml'], KEY).catch(String);
        expect(refused)
          .to.contain('refused the token in PORTICO_TOKEN as Authorization: Bearer')
          .and.not.contain(ACME_KEY);
      });

      it('accepts the proposed settings in check', async () => {
        expect(await run(['check'])).to.contain(
          'portico.yaml: OK: offers projects (platform), workflows (platform), tools (platform)',
        );
      });

      it("shows the platform's replies in a probe, without the token", async () => {
        const said = await run(['check', '--probe'], KEY);
        expect(said).to.contain('120 items of 3 pages').and.not.contain(ACME_KEY);
      });

      it('serves the complete list', async () => {
        const env = { ...porticoEnvironment({ PLATFORM_URL: url }), ...node.env };
        const serving = startPortico(portico, ['--config', join(folder, 'portico.yaml')], env);
        const read = await fetch(`${await serving.ready}/mcp/v1/resources/read?uri=platform://projects`, {
          headers: { authorization: `Bearer ${ACME_KEY}` },
        });
        expect(await read.json()).to.have.length(120);
        expect((await serving.stop()).code).to.equal(0);
      });
    });
  }
});
