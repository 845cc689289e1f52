import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { type HttpUpstream, json, startHttpUpstream, tokenOf } from '../support/http-upstream.ts';
import { porticoEnvironment, startPortico } from '../support/process.ts';
import { needsRegistry, runTool } from '../support/tools.ts';
import { type NodeOnHand, nodeFromNpm, THIS_NODE } from './nodes.ts';
import { installIn, pack, temporaryFolder } from './packed.ts';

const TOKEN = 'token-of-the-walk';
const PLAYBOOKS = Array.from({ length: 45 }, (_, index) => ({ id: index, name: `Playbook ${index}` }));

/** A platform with one list, paged by offset with a total. */
const acme: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://acme');
  if (pathname !== '/api/playbooks') return json({}, 404)(request, response);
  if (tokenOf(request) !== TOKEN) return json({}, 401)(request, response);
  const offset = Number(searchParams.get('offset') ?? 0);
  const limit = Math.min(Number(searchParams.get('limit') ?? 20), 20);
  const results = PLAYBOOKS.slice(offset, offset + limit);
  json({ results, total: PLAYBOOKS.length, offset, limit })(request, response);
};

/** Settings for it. Beside them are free ports, so that nothing else on the machine is in the way. */
const settings = (url: string) => `
upstreams: { acme: { baseUrl: ${url}/api } }
resources:
  workflows:
    upstream: acme
    path: /playbooks
    query: {}
    items: results
    pagination: { kind: offset, sizeParam: limit, offsetParam: offset, total: total }
http: { port: 0 }
admin: { port: 0 }
`;

describe('the first minutes with the package', function () {
  this.timeout(300_000);
  let tarball: string;
  let platform: HttpUpstream;

  before(async function () {
    await needsRegistry(this);
    ({ tarball } = await pack());
    platform = await startHttpUpstream(acme);
  });

  after(() => platform?.close());

  for (const [name, find] of [
    ['this Node', async () => THIS_NODE],
    ['Node 22', () => nodeFromNpm('22')],
  ] as const) {
    describe(`on ${name}`, () => {
      let node: NodeOnHand;
      let folder: string;
      let portico: string;

      before(async () => {
        node = await find();
        const project = await temporaryFolder('walk');
        await installIn(project, [tarball], node.env);
        portico = join(project, 'node_modules/.bin/portico');
        folder = await temporaryFolder('empty');
        await writeFile(join(folder, 'portico.yaml'), settings(platform.url));
      });

      const run = (args: readonly string[], env = {}) => runTool(portico, args, folder, { ...node.env, ...env });

      it('finds the settings right', async () => {
        expect(await run(['check'])).to.contain('portico.yaml: OK: offers workflows (acme)');
      });

      it('shows what the platform answers, and not the token', async () => {
        const said = await run(['check', '--probe'], { PORTICO_TOKEN: TOKEN });
        expect(said).to.contain('45 items of 3 pages').and.not.to.contain(TOKEN);
        const { ok, resources } = JSON.parse(await run(['check', '--probe', '--json'], { PORTICO_TOKEN: TOKEN }));
        expect({ ok, items: resources[0].items }).to.deep.equal({ ok: true, items: PLAYBOOKS.length });
      });

      it('reads it whole', async () => {
        const env = { ...porticoEnvironment(), ...node.env };
        const serving = startPortico(portico, ['--config', join(folder, 'portico.yaml')], env);
        const read = await fetch(`${await serving.ready}/mcp/v1/resources/read?uri=platform://workflows`, {
          headers: { authorization: `Bearer ${TOKEN}` },
        });
        const items = (await read.json()) as { id: string; name: string }[];
        expect(items.map(({ id, name }) => ({ id: Number(id), name }))).to.deep.equal(PLAYBOOKS);
        expect((await serving.stop()).code).to.equal(0);
      });
    });
  }
});
