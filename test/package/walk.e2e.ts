import { appendFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { type HttpUpstream, json, startHttpUpstream, tokenOf } from '../support/platform/http-upstream.ts';
import { porticoEnvironment, startPortico } from '../support/process/process.ts';
import { needsRegistry, runTool } from '../support/tools.ts';
import { NODES, type NodeOnHand } from './nodes.ts';
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

/** What it publishes about itself. */
const openapi = (url: string) => ({
  openapi: '3.1.0',
  info: { title: 'Acme', version: '1' },
  servers: [{ url: `${url}/api` }],
  security: [{ bearer: [] }],
  paths: {
    '/playbooks': {
      get: {
        operationId: 'listPlaybooks',
        summary: 'Lists the playbooks that are installed.',
        parameters: ['limit', 'offset'].map((name) => ({ name, in: 'query', schema: { type: 'integer' } })),
        responses: {
          200: {
            description: 'One page of playbooks.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Playbooks' } } },
          },
        },
      },
    },
  },
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Playbooks: {
        type: 'object',
        properties: {
          results: {
            type: 'array',
            items: { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } },
          },
          total: { type: 'integer' },
          offset: { type: 'integer' },
          limit: { type: 'integer' },
        },
      },
    },
  },
});

/** Free ports, so that nothing else on the machine is in the way. */
const PORTS = 'http: { port: 0 }\nadmin: { port: 0 }\n';

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

  for (const [name, find] of Object.entries(NODES)) {
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
        await writeFile(join(folder, 'openapi.json'), JSON.stringify(openapi(platform.url)));
      });

      const run = (args: readonly string[], env = {}) =>
        runTool(portico, args, folder, { ...node.env, ACME_URL: platform.url, ...env });

      it('proposes settings from the OpenAPI document of the platform', async () => {
        const said = await run(['init', '--openapi', 'openapi.json', '--yes']);
        expect(said).to.contain('proposes workflows of acme');
        await appendFile(join(folder, 'portico.yaml'), PORTS);
      });

      it("proposes settings from the platform's replies", async () => {
        const from = ['--from', `${platform.url}/api/playbooks`];
        const said = await run(['init', ...from, '--yes', 'other.yaml'], { PORTICO_TOKEN: TOKEN });
        expect(said).to.contain('proposes workflows').and.not.to.contain(TOKEN);
      });

      it('accepts the proposed settings in check', async () => {
        expect(await run(['check'])).to.contain('portico.yaml: OK: offers workflows (acme)');
      });

      it("shows the platform's replies in a probe, without the token", async () => {
        const said = await run(['check', '--probe'], { PORTICO_TOKEN: TOKEN });
        expect(said).to.contain('45 items of 3 pages').and.not.to.contain(TOKEN);
        const { ok, resources } = JSON.parse(await run(['check', '--probe', '--json'], { PORTICO_TOKEN: TOKEN }));
        expect({ ok, items: resources[0].items }).to.deep.equal({ ok: true, items: PLAYBOOKS.length });
      });

      it('serves the complete list', async () => {
        const env = { ...porticoEnvironment({ ACME_URL: platform.url }), ...node.env };
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
