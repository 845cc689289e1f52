import type { RequestListener } from 'node:http';
import { loadSettings } from '../../../src/composition.ts';
import { type ProbeOptions, probe } from '../../../src/setup/probe/probe-command.ts';
import type { ResourceReport } from '../../../src/setup/probe/probe-report.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { newFolder, writeSettings } from '../../support/process/process.ts';

export const TOKEN = 'token-of-the-test';

/** What a probe finds out by settings in which BASE is a platform. */
export async function probed(handler: RequestListener, yaml: string, env = {}, options: ProbeOptions = {}) {
  const { url } = await startHttpUpstream(handler);
  const folder = await newFolder();
  const file = await writeSettings(folder, yaml.replaceAll('BASE', url));
  return probe(file, await loadSettings(file, { PORTICO_TOKEN: TOKEN, ...env }), options);
}

/** The same, of the one resource that settings offer. */
export async function probedOne(...given: Parameters<typeof probed>): Promise<ResourceReport> {
  const { resources } = await probed(...given);
  const [resource] = resources;
  if (resource === undefined || resources.length > 1) throw new Error('these settings do not offer one resource');
  return resource;
}

/** Settings that offer projects alone. */
export const settings = (resource: string, ofUpstream = '') =>
  `upstreams: { acme: { baseUrl: BASE/v2${ofUpstream} } }
resources:
  projects: { upstream: acme, path: /workspaces, ${resource} }
  workflows: { enabled: false }
  tools: { enabled: false }
`;

/** Settings of a list that is one page: by default at the usual place, or at `list`. */
export const ONE_PAGE = settings('pagination: { kind: none }');
export const LIST = 'items: list, pagination: { kind: none }';

/** The same for one token; others are refused. */
export function forToken(handler: RequestListener): RequestListener {
  return (request, response) =>
    (request.headers.authorization === `Bearer ${TOKEN}` ? handler : json({ error: 'who?' }, 401))(request, response);
}

/** Sixty workspaces, in pages of 25 at most by offset, for one token. */
export const WORKSPACES = Array.from({ length: 60 }, (_, index) => {
  return { wid: index, title: `W ${index}`, about: null, at: 1_767_323_045 };
});
export const byOffset = forToken((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://a.example');
  const skip = Number(searchParams.get('skip') ?? 0);
  const limit = Math.min(Number(searchParams.get('limit') ?? 25), 25);
  json({ data: { count: WORKSPACES.length, list: WORKSPACES.slice(skip, skip + limit) } })(request, response);
});
export const OFFSET = 'items: data.list, pagination: { kind: offset, offsetParam: skip, total: data.count }';
export const FIELDS = 'fields: { id: wid, name: title, description: about, createTime: at }';
