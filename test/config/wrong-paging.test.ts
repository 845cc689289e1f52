import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { loadConfig } from '../../src/config/load-config.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listening.ts';

interface Reply {
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

/** A list of one of the shipped examples, and how its platform pages it. */
interface Listing {
  readonly example: string;
  readonly env: Readonly<Record<string, string>>;
  readonly resource: string;
  /** One of its items, by its number. */
  readonly item: (number: number) => object;
  /** Answers for one page, knowing nothing of parameters that the platform does not have. */
  readonly page: (items: readonly object[], query: URLSearchParams, url: string) => Reply;
}

const ITEMS = 120;

/** The part of `items` that parameters ask for. */
function cut<T>(items: readonly T[], start: number, size: number): readonly T[] {
  return items.slice(start, start + size);
}

const number = (query: URLSearchParams, name: string, otherwise: number) => Number(query.get(name) ?? otherwise);

/** Items at the root, in pages that begin with 1, and headers that tell the rest. */
function byHeaders(
  pageParam: string,
  sizeParam: string,
  headersOf: (page: number, pages: number, url: string) => object,
) {
  return (items: readonly object[], query: URLSearchParams, url: string): Reply => {
    const size = Math.min(number(query, sizeParam, 20), 50);
    const page = number(query, pageParam, 1);
    const pages = Math.ceil(items.length / size);
    return { headers: { ...headersOf(page, pages, url) }, body: cut(items, (page - 1) * size, size) };
  };
}

const LISTINGS: readonly Listing[] = [
  {
    example: 'github',
    env: { GITHUB_OWNER: 'acme', GITHUB_REPO: 'shop' },
    resource: 'projects',
    item: (id) => ({ id, full_name: `acme/${id}`, description: null, created_at: '2026-01-02T03:04:05Z' }),
    page: byHeaders('page', 'per_page', (page, pages, url) =>
      page < pages ? { link: `<${url}/user/repos?page=${page + 1}&per_page=50>; rel="next"` } : {},
    ),
  },
  {
    example: 'gitlab',
    env: { GITLAB_PROJECT_ID: '7' },
    resource: 'projects',
    item: (id) => ({ id, name_with_namespace: `acme / ${id}`, description: null, created_at: '2026-01-02T03:04:05Z' }),
    page: byHeaders('page', 'per_page', (page, pages) => ({
      'x-page': String(page),
      'x-next-page': page < pages ? String(page + 1) : '',
      'x-total': String(ITEMS),
      'x-total-pages': String(pages),
    })),
  },
  {
    example: 'rapid7',
    env: {},
    resource: 'projects',
    item: (id) => ({ id: `app-${id}`, name: `App ${id}` }),
    page: (items, query) => {
      const [index, size] = [number(query, 'index', 0), number(query, 'size', 50)];
      const pages = Math.ceil(items.length / size);
      return {
        body: {
          data: cut(items, index * size, size),
          metadata: { index, size, sort: '', total_data: items.length, total_pages: pages },
          links:
            index + 1 < pages ? [{ rel: 'next', href: `https://eu.api.example/ias/v1/apps?index=${index + 1}` }] : [],
        },
      };
    },
  },
  {
    example: 'rapid7',
    env: {},
    resource: 'workflows',
    item: (id) => ({
      workflowId: `w-${id}`,
      state: 'active',
      publishedVersion: { name: `Workflow ${id}`, summary: '' },
    }),
    page: (items, query) => {
      const [offset, limit] = [number(query, 'offset', 0), Math.min(number(query, 'limit', 30), 30)];
      return { body: { data: { meta: { limit, offset, total: items.length }, workflows: cut(items, offset, limit) } } };
    },
  },
  {
    example: 'defectdojo',
    env: {},
    resource: 'projects',
    item: (id) => ({ id, name: `Product ${id}`, description: '', created: null }),
    page: (items, query, url) => {
      const [offset, limit] = [number(query, 'offset', 0), number(query, 'limit', 25)];
      const link = (start: number) => `${url}/api/v2/products/?limit=${limit}&offset=${start}`;
      return {
        body: {
          count: items.length,
          next: offset + limit < items.length ? link(offset + limit) : null,
          previous: offset > 0 ? link(Math.max(0, offset - limit)) : null,
          results: cut(items, offset, limit),
        },
      };
    },
  },
  {
    example: 'dependency-track',
    env: {},
    resource: 'projects',
    item: (id) => ({ uuid: `uuid-${id}`, name: `Project ${id}` }),
    page: byHeaders('pageNumber', 'pageSize', () => ({ 'x-total-count': String(ITEMS) })),
  },
  {
    example: 'harbor',
    env: {},
    resource: 'projects',
    item: (id) => ({ project_id: id, name: `Project ${id}`, metadata: { public: 'false' } }),
    page: byHeaders('page', 'page_size', (page, pages) => ({
      'x-total-count': String(ITEMS),
      ...(page < pages && { link: `</api/v2.0/projects?page=${page + 1}&page_size=50>; rel="next"` }),
    })),
  },
  {
    example: 'n8n',
    env: {},
    resource: 'projects',
    item: (id) => ({ id: `id-${id}`, name: `Project ${id}`, type: 'team' }),
    page: (items, query) => {
      const start = Number(Buffer.from(query.get('cursor') ?? '', 'base64').toString() || 0);
      const limit = Math.min(number(query, 'limit', 100), 50);
      const end = start + limit;
      const nextCursor = end < items.length ? Buffer.from(String(end)).toString('base64') : null;
      return { body: { data: cut(items, start, limit), nextCursor } };
    },
  },
  {
    example: 'tines',
    env: {},
    resource: 'workflows',
    item: (id) => ({ id, name: `Story ${id}`, description: null, disabled: false }),
    page: (items, query, url) => {
      const [page, size] = [number(query, 'page', 1), Math.min(number(query, 'per_page', 20), 50)];
      const pages = Math.ceil(items.length / size);
      return {
        body: {
          stories: cut(items, (page - 1) * size, size),
          meta: {
            next_page: page < pages ? `${url}/api/v1/stories?per_page=${size}&page=${page + 1}` : null,
            next_page_number: page < pages ? page + 1 : null,
            per_page: size,
            pages,
            count: items.length,
          },
        },
      };
    },
  },
];

const PAGINGS = [
  { kind: 'none' },
  { kind: 'token' },
  { kind: 'offset' },
  { kind: 'page' },
  { kind: 'link' },
  { kind: 'link', next: 'next_page' },
  { kind: 'page', sizeParam: 'size', pageParam: 'p', firstPage: 0 },
  { kind: 'offset', sizeParam: 'count', offsetParam: 'start' },
  { kind: 'token', tokenParam: 'after', next: 'next' },
] as const;

describe('an example whose paging was set wrong', () => {
  for (const { example, env, resource, item, page } of LISTINGS) {
    it(`reads ${resource} of ${example} whole or not at all`, async () => {
      const items = Array.from({ length: ITEMS }, (_, index) => item(index + 1));
      let url = '';
      const platform = createServer((request, response) => {
        const reply = page(items, new URL(request.url ?? '/', url).searchParams, url);
        response.writeHead(200, { 'content-type': 'application/json', ...reply.headers });
        response.end(JSON.stringify(reply.body));
      });
      ({ url } = await listen(platform));
      const file = fileURLToPath(new URL(`../../config/examples/${example}.yaml`, import.meta.url));
      const urls = Object.fromEntries(
        ['GITHUB_API', 'GITLAB', 'DEFECTDOJO', 'DEPENDENCY_TRACK', 'HARBOR', 'N8N'].map((name) => [`${name}_URL`, url]),
      );
      const { config } = await loadConfig(file, { ...urls, TINES_DOMAIN: 'tines.example', ...env });
      const [[name, upstream] = ['']] = Object.entries(config.upstreams);
      const right = config.resources[resource as 'projects'];
      const outcomes = new Set<number>();
      for (const pagination of [right.pagination, ...PAGINGS]) {
        const { gateway, read } = await startGateway({
          ...config,
          http: { ...config.http, port: 0 },
          admin: { enabled: false },
          log: { level: 'silent' },
          upstreams: { [name]: { ...upstream, baseUrl: url } },
          resources: {
            ...config.resources,
            [resource]: { ...right, pagination: pagination as typeof right.pagination },
          },
        });
        const response = await read(resource);
        const body = await response.json();
        await gateway.close();
        outcomes.add(response.status);
        const told = JSON.stringify(pagination);
        if (response.status === 200 || pagination === right.pagination) expect(body, told).to.have.length(ITEMS);
        else expect(body, told).to.include({ status: 502, code: 'upstream_invalid' });
      }
      // Of the wrong ones, some read it, too.
      expect([...outcomes]).to.have.members([200, 502]);
    });
  }
});
