import { createServer, type Server } from 'node:http';

export const ACME_KEY = 'my-acme-key';

const PAGE = 50;

const LISTS: Readonly<Record<string, readonly object[]>> = {
  workspaces: Array.from({ length: 120 }, (_, number) => ({
    uuid: `5f0c7d1e-0000-4000-8000-${String(number + 1).padStart(12, '0')}`,
    title: `Workspace ${number + 1}`,
    summary: number === 0 ? 'Where alerts come in' : null,
    created_at: 1_767_225_600_000 + number * 86_400_000,
  })),
  playbooks: [
    {
      id: 'phishing-triage',
      name: 'Phishing triage',
      description: 'Analyses mail that was reported',
      trigger_type: 'alert',
      enabled: true,
    },
    { id: 'block-ip', name: 'Block an address', description: null, trigger_type: 'manual', enabled: false },
  ],
  integrations: [
    {
      slug: 'virustotal',
      display_name: 'VirusTotal',
      version: 'v3.1',
      category: 'ENRICHMENT',
      description: 'Looks up hashes and addresses',
    },
    { slug: 'jira', display_name: 'Jira', version: '9.2.0', category: 'TICKETING', description: null },
  ],
};

/** The platform of acme.openapi.yaml: by offset, no more than 50 a page, its key in `X-Acme-Key`. */
export function createAcme(): Server {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://acme');
    const [, name = ''] = /^\/api\/v2\/(\w+)$/.exec(pathname) ?? [];
    const list = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined;
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.headers['x-acme-key'] !== ACME_KEY) {
      answer(401, { error: 'unknown key' });
    } else if (list === undefined) {
      answer(404, { error: 'not found' });
    } else {
      const offset = Number(searchParams.get('offset') ?? 0);
      const limit = Math.min(Number(searchParams.get('limit') ?? 25), PAGE);
      answer(200, { [name]: list.slice(offset, offset + limit), total_count: list.length });
    }
  });
}

const WORKSPACES = Array.from({ length: 120 }, (_, index) => ({
  workspaceId: 4711 + index,
  title: `Workspace ${index + 1}`,
  created_at: 1_767_323_045,
}));

/** The platform of docs/onboarding.md: pages by `skip`, its key in `X-Api-Key`. */
export function createWorkspaces(): Server {
  return createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://acme');
    const skip = Number(searchParams.get('skip') ?? 0);
    const workspaces = WORKSPACES.slice(skip, skip + Math.min(Number(searchParams.get('limit') ?? 50), 50));
    const isKnown = request.headers['x-api-key'] === ACME_KEY;
    const body = isKnown ? { data: { workspaces, skip, total: WORKSPACES.length } } : { error: 'missing api key' };
    if (!isKnown) response.setHeader('www-authenticate', 'ApiKey header="X-Api-Key"');
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
}
