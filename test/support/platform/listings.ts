import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parse } from 'yaml';
import type { SettingsInput } from '../../../src/gateway.ts';
import { listen } from '../listening.ts';

interface Reply {
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

/** A list of one of the shipped examples, and how its platform pages it. */
export interface Listing {
  readonly example: string;
  readonly resource: 'projects' | 'workflows';
  /** One of its items, by its number. */
  readonly item: (number: number) => object;
  /** Answers for one page, knowing nothing of parameters that the platform does not have. */
  readonly page: (items: readonly object[], query: URLSearchParams, url: string) => Reply;
}

/** How many items each of the lists has: some pages of them. */
export const ITEMS = 120;

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

export const LISTINGS: readonly Listing[] = [
  {
    example: 'github',
    resource: 'projects',
    item: (id) => ({ id, full_name: `acme/${id}`, description: null, created_at: '2026-01-02T03:04:05Z' }),
    page: byHeaders('page', 'per_page', (page, pages, url) =>
      page < pages ? { link: `<${url}/user/repos?page=${page + 1}&per_page=50>; rel="next"` } : {},
    ),
  },
  {
    example: 'gitlab',
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
    resource: 'projects',
    item: (id) => ({ uuid: `uuid-${id}`, name: `Project ${id}` }),
    page: byHeaders('pageNumber', 'pageSize', () => ({ 'x-total-count': String(ITEMS) })),
  },
  {
    example: 'harbor',
    resource: 'projects',
    item: (id) => ({ project_id: id, name: `Project ${id}`, metadata: { public: 'false' } }),
    page: byHeaders('page', 'page_size', (page, pages) => ({
      'x-total-count': String(ITEMS),
      ...(page < pages && { link: `</api/v2.0/projects?page=${page + 1}&page_size=50>; rel="next"` }),
    })),
  },
  {
    example: 'n8n',
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

/**
 * Serves a list as its platform does, until the test ends. Gives settings that offer it alone, by its example but for its
 * pagination: `pagination` stands in its place.
 */
export async function serveListing({
  example,
  resource,
  item,
  page,
}: Listing): Promise<(pagination?: object) => SettingsInput> {
  const items = Array.from({ length: ITEMS }, (_, index) => item(index + 1));
  let url = '';
  const platform = createServer((request, response) => {
    const { headers, body } = page(items, new URL(request.url ?? '/', url).searchParams, url);
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  ({ url } = await listen(platform));
  const text = readFileSync(new URL(`../../../config/examples/${example}.yaml`, import.meta.url), 'utf8');
  const { upstreams, resources } = parse(text) as SettingsInput;
  const [[name, { credential }] = ['', {}]] = Object.entries(upstreams);
  const others = { projects: { enabled: false }, workflows: { enabled: false }, tools: { enabled: false } };
  return (pagination) => ({
    http: { port: 0 },
    admin: { enabled: false },
    log: { level: 'silent' },
    upstreams: { [name]: { baseUrl: url, ...(credential && { credential }) } },
    resources: {
      ...others,
      [resource]: { ...resources?.[resource], ...(pagination && { pagination }) },
    },
  });
}
