import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { loadSettings } from '../../../src/composition.ts';
import { runProbe } from '../../../src/setup/probe/probe-command.ts';
import { list, listing, number, object, openApi, parameter, text } from '../../setup/init/proposed.ts';
import { startGateway, TOKEN } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { newFolder, runPortico } from '../../support/process/process.ts';
import { NAMES } from '../../support/resources.ts';

const KEY = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Acme-Key' } } };
const PAGES = { parameters: [parameter('limit', { type: 'integer', maximum: 10 }), parameter('skip')] };

/** The document of a platform that was made for this test: nothing else is known of it. */
const DOCUMENT = openApi(
  {
    '/api/workspaces': listing(object({ data: list({ created_at: text }), total: number }), PAGES),
    '/api/workspaces/{id}/members': listing(list()),
    '/api/playbooks': listing(
      object({ data: list({ enabled: { type: 'boolean' }, trigger_type: text }), total: number }),
      PAGES,
    ),
    '/api/playbooks/{id}/runs': listing(list()),
    '/api/integrations': listing(object({ data: list({ version: text, category: text }), total: number }), PAGES),
    '/api/users': listing(list()),
  },
  { servers: [{ url: '/' }], components: KEY, security: [{ key: [] }] },
);

const manyOf = (noun: string, length: number, more: object) =>
  Array.from({ length }, (_, index) => ({
    id: `${noun[0]?.toLowerCase()}${index}`,
    name: `${noun} ${index}`,
    ...more,
  }));

const LISTS: Readonly<Record<string, readonly object[]>> = {
  workspaces: manyOf('Workspace', 23, { created_at: '2026-01-02' }),
  playbooks: [{ id: 'p1', name: 'Isolate host', enabled: true, trigger_type: 'manual' }],
  integrations: manyOf('Integration', 11, { version: 'v1.2', category: 'EDR' }),
};

/** Serves the document to anybody, and pages of ten to whoever brings the key. */
const platform: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://platform');
  if (pathname === '/docs/openapi.yaml') return response.end(stringify(DOCUMENT));
  if (request.headers['x-acme-key'] !== TOKEN && request.headers['x-api-key'] !== TOKEN)
    return json({}, 401)(request, response);
  const items = LISTS[/^\/api\/(\w+)$/.exec(pathname)?.[1] ?? ''];
  if (items === undefined) return json({}, 404)(request, response);
  const skip = Number(searchParams.get('skip') ?? 0);
  const limit = Math.min(10, Number(searchParams.get('limit') ?? 10));
  json({ data: items.slice(skip, skip + limit), total: items.length })(request, response);
};

function credentialsOf(requests: readonly IncomingMessage[]): string[] {
  return requests
    .flatMap(({ headers }) => [headers.authorization, headers['x-acme-key'], headers['x-api-key']])
    .filter((value) => value !== undefined)
    .map(String);
}

describe('portico init', () => {
  it('writes settings from an OpenAPI document that read complete lists', async () => {
    const { url, requests } = await startHttpUpstream(platform);
    const folder = await newFolder();
    const file = join(folder, 'portico.yaml');
    const init = await runPortico(['init', file, '--openapi', `${url}/docs/openapi.yaml`]).ended;
    expect(init).to.deep.include({ code: 0, stderr: '' });
    expect(init.stdout).to.contain('projects: GET /api/workspaces').and.contain('tools: GET /api/integrations');
    expect(credentialsOf(requests)).to.deep.equal([]);

    const loaded = await loadSettings(file, { PORTICO_TOKEN: TOKEN });
    expect(await runProbe(file, loaded)).to.include({ ok: true });

    const quiet = { http: { port: 0 }, admin: { enabled: false }, log: { level: 'silent' } } as const;
    const { read } = await startGateway({ ...parse(await readFile(file, 'utf8')), ...quiet });
    const [projects, workflows, tools] = await Promise.all(
      NAMES.map(async (name) => (await (await read(name)).json()) as object[]),
    );
    expect(projects).to.have.length(23);
    const last = { id: 'w22', name: 'Workspace 22', description: '', createTime: '2026-01-02T00:00:00Z' };
    expect(projects?.at(-1)).to.deep.equal(last);
    expect(workflows).to.deep.equal([
      { id: 'p1', name: 'Isolate host', description: '', triggerType: 'manual', status: 'ACTIVE' },
    ]);
    expect(tools).to.have.length(11);
    const first = { id: 'i0', name: 'Integration 0', version: '1.2.0', category: 'EDR', description: '' };
    expect(tools?.[0]).to.deep.equal(first);
  });
});
