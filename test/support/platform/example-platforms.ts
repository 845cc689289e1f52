import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { parse } from 'yaml';
import type { SettingsInput } from '../../../src/gateway.ts';
import { listen } from '../listening.ts';

/** Query and posted body of a request for one page. */
export interface Asked {
  readonly query: URLSearchParams;
  readonly body: { readonly query?: readonly Record<string, unknown>[]; readonly variables?: Record<string, unknown> };
  /** Of the platform, with the path. */
  readonly url: string;
}

export interface Answer {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Item = Readonly<Record<string, unknown>>;

/** Gives `undefined` for a parameter that the platform refuses. */
type AnswerList = (items: readonly Item[], asked: Asked) => Answer | undefined;

/** One list of a platform. `others` come only if parameters ask for them. */
type ExampleList = readonly [item: (number: number) => Item, answer: AnswerList, others?: readonly Item[]];

export interface ExamplePlatform {
  readonly env: Readonly<Record<string, string>>;
  /** The header of its token, and what is before that. */
  readonly token: readonly [header: string, prefix: string];
  /** The path of a login by Basic credentials, and its reply with the token. */
  readonly login?: readonly [path: string, reply: (token: string) => unknown];
  /**
   * By path below the host; of a posted query, by the name of what it lists. A path with `{NAME}` is that of each parent, and the
   * parent of this name has the items.
   */
  readonly lists: Readonly<Record<string, ExampleList>>;
}

type Select = (items: readonly Item[], query: URLSearchParams) => readonly Item[] | undefined;

const REFUSED = undefined;

/** Parameters one after the other. */
function all(...selects: readonly Select[]): Select {
  return (items, query) =>
    selects.reduce<readonly Item[] | undefined>((left, select) => left && select(left, query), items);
}

/** A flag that is `true` or `false`, and refused otherwise. */
function flag(name: string, apply: (items: readonly Item[], value: boolean | undefined) => readonly Item[]): Select {
  return (items, query) => {
    const value = query.get(name);
    if (value !== null && value !== 'true' && value !== 'false') return REFUSED;
    return apply(items, value === null ? undefined : value === 'true');
  };
}

function sorted(items: readonly Item[], member: string, isDown = false): readonly Item[] {
  const up = [...items].sort((one, other) => ((one[member] as string) < (other[member] as string) ? -1 : 1));
  return isDown ? up.reverse() : up;
}

/** The range that a number from 0 on and a size name; a size that is none, or too large, is the usual one, or the largest. */
function cut(items: readonly Item[], start: number, size: string | null, [usual, max]: readonly [number, number]) {
  const taken = Math.min(Number(size) || usual, max);
  return { taken, page: items.slice(start, start + taken) };
}

interface Paged {
  readonly page: readonly Item[];
  readonly number: number;
  readonly size: number;
  readonly pages: number;
  readonly total: number;
  readonly link: (number: number) => string;
}

function byPage(
  [pageParam, sizeParam]: readonly [string, string],
  sizes: readonly [usual: number, max: number],
  answer: (paged: Paged) => Answer,
  { select = (items) => items, firstPage = 1 }: { readonly select?: Select; readonly firstPage?: number } = {},
): AnswerList {
  return (items, { query, url }) => {
    const fitting = select(items, query);
    if (fitting === undefined) return REFUSED;
    const number = Number(query.get(pageParam) ?? firstPage);
    const { taken: size } = cut([], 0, query.get(sizeParam), sizes);
    const page = fitting.slice((number - firstPage) * size, (number - firstPage + 1) * size);
    const link = (other: number) => {
      const parameters = new URLSearchParams(query);
      parameters.set(pageParam, `${other}`);
      return `${url}?${parameters}`;
    };
    return answer({ page, number, size, pages: Math.ceil(fitting.length / size), total: fitting.length, link });
  };
}

const whole =
  (wrap: (items: readonly Item[]) => unknown = (items) => items): AnswerList =>
  (items) => ({ body: wrap(items) });

const TIME = (number: number) => new Date(Date.UTC(2026, 0, 2, 3, number)).toISOString();
/** In another order than that of numbers. */
const NAME = (number: number) => `name ${9999 - number}`;

const django: AnswerList = (items, { query, url }) => {
  const order = query.get('o');
  if (order !== null && !['id', '-id', 'name'].includes(order)) return REFUSED;
  const ordered = order === null ? sorted(items, 'name') : sorted(items, order.replace('-', ''), order[0] === '-');
  const offset = Number(query.get('offset') ?? 0);
  const { page, taken } = cut(ordered, offset, query.get('limit'), [25, 250]);
  const link = (start: number) => {
    const parameters = new URLSearchParams(query);
    parameters.set('offset', `${start}`);
    return `${url}?${parameters}`;
  };
  const next = offset + taken < items.length ? link(offset + taken) : null;
  const previous = offset > 0 ? link(Math.max(0, offset - taken)) : null;
  return { body: { count: items.length, next, previous, results: page } };
};

const github = (wrap: (paged: Paged) => unknown, select?: Select) =>
  byPage(
    ['page', 'per_page'],
    [30, 100],
    (paged) => ({
      headers: paged.number < paged.pages ? { link: `<${paged.link(paged.number + 1)}>; rel="next"` } : {},
      body: wrap(paged),
    }),
    { ...(select && { select }) },
  );

const gitlab = (select?: Select) =>
  byPage(
    ['page', 'per_page'],
    [20, 100],
    ({ page, number, pages, total, size }) => ({
      headers: {
        'x-page': `${number}`,
        'x-next-page': number < pages ? `${number + 1}` : '',
        'x-per-page': `${size}`,
        'x-total': `${total}`,
        'x-total-pages': `${pages}`,
      },
      body: page,
    }),
    { ...(select && { select }) },
  );

const harbor = (select: Select) =>
  byPage(
    ['page', 'page_size'],
    [10, 100],
    ({ page, number, pages, total, link }) => ({
      headers: {
        'x-total-count': `${total}`,
        ...(number < pages && { link: `<${link(number + 1)}>; rel="next"` }),
      },
      body: page,
    }),
    { select },
  );

/** A member that items do not have is not an order: they come by name. */
const harborSort: Select = (items, query) => {
  const member = query.get('sort') ?? 'name';
  return sorted(items, items[0] !== undefined && member in items[0] ? member : 'name');
};

const dependencyTrack = (select?: Select) =>
  byPage(
    ['pageNumber', 'pageSize'],
    [100, 100],
    ({ page, total }) => ({ headers: { 'x-total-count': `${total}` }, body: page }),
    { ...(select && { select }) },
  );

const n8n =
  (select: Select = (items) => items): AnswerList =>
  (items, { query }) => {
    const fitting = select(items, query);
    if (fitting === undefined) return REFUSED;
    const start = Number(Buffer.from(query.get('cursor') ?? '', 'base64').toString() || 0);
    const { page, taken } = cut(fitting, start, query.get('limit'), [100, 250]);
    const nextCursor = start + taken < items.length ? Buffer.from(`${start + taken}`).toString('base64') : null;
    return { body: { data: page, nextCursor } };
  };

const opencti =
  (name: string): AnswerList =>
  (items, { body: { variables = {} } }) => {
    const start = Number(variables['after'] ?? 0);
    const { page, taken } = cut(items, start, `${variables['first']}`, [25, 5000]);
    const hasNextPage = start + taken < items.length;
    const pageInfo = { endCursor: page.length > 0 ? `${start + page.length}` : null, hasNextPage };
    return { body: { data: { [name]: { edges: page.map((node) => ({ node })), pageInfo } } } };
  };

const insight = byPage(
  ['index', 'size'],
  [50, 1000],
  ({ page, number, size, pages, total, link }) => ({
    body: {
      data: page,
      metadata: { index: number, size, sort: '', total_data: total, total_pages: pages },
      links: number + 1 < pages ? [{ rel: 'next', href: link(number + 1) }] : [],
    },
  }),
  { firstPage: 0 },
);

const connect: AnswerList = (items, { query }) => {
  const offset = Number(query.get('offset') ?? 0);
  const { page, taken: limit } = cut(items, offset, query.get('limit'), [30, 30]);
  return { body: { data: { meta: { limit, offset, total: items.length }, workflows: page } } };
};

const thehive: AnswerList = (items, { body: { query = [] } }) => {
  const { from = 0, to = 0 } = (query[2] ?? {}) as { from?: number; to?: number };
  return { headers: { 'x-total': `${items.length}` }, body: items.slice(from, to) };
};

const tines = (name: string, select?: Select) =>
  byPage(
    ['page', 'per_page'],
    [20, 500],
    ({ page, number, pages, size, total, link }) => ({
      body: {
        [name]: page,
        meta: {
          current_page: link(number),
          previous_page: number > 1 ? link(number - 1) : null,
          next_page: number < pages ? link(number + 1) : null,
          next_page_number: number < pages ? number + 1 : null,
          per_page: size,
          pages,
          count: total,
        },
      },
    }),
    { ...(select && { select }) },
  );

/** Every page links to a next one; `results` says whether there are items on it. */
const sentry: AnswerList = (items, { query, url }) => {
  const [, start = '0'] = (query.get('cursor') ?? '').split(':');
  const { page, taken } = cut(items, Number(start), query.get('per_page'), [100, 100]);
  const link = (rel: string, at: number, hasItems: boolean) => {
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', `${taken}:${at}:0`);
    return `<${url}?${parameters}>; rel="${rel}"; results="${hasItems}"; cursor="${taken}:${at}:0"`;
  };
  const next = Number(start) + taken;
  const links = [link('previous', next - 2 * taken, next > taken), link('next', next, next < items.length)];
  return { headers: { link: links.join(', ') }, body: page };
};

const wazuh: AnswerList = (items, { query }) => {
  const limit = Number(query.get('limit') ?? 500);
  if (limit < 1 || limit > 100_000) return REFUSED;
  const start = Number(query.get('offset') ?? 0);
  const data = { affected_items: items.slice(start, start + limit), total_affected_items: items.length };
  return { body: { data: { ...data, total_failed_items: 0, failed_items: [] }, message: 'All', error: 0 } };
};

/** `count` is that of the page; what comes next is a header. */
const azureDevOps: AnswerList = (items, { query }) => {
  if (![null, '7.1'].includes(query.get('api-version'))) return REFUSED;
  const start = Number(query.get('continuationToken') ?? query.get('$skip') ?? 0);
  const { page, taken } = cut(items, start, query.get('$top'), [100, 1000]);
  const next = start + taken < items.length ? { 'x-ms-continuationtoken': `${start + taken}` } : {};
  return { headers: next, body: { count: page.length, value: page } };
};

/** All in one page. */
const azureDevOpsExtensions: AnswerList = (items, { query }) => {
  const select = flag('includeDisabledExtensions', (all, value = true) =>
    value ? all : all.filter(({ isDisabled }) => isDisabled !== true),
  );
  const value = [null, '7.1-preview.1'].includes(query.get('api-version')) ? select(items, query) : REFUSED;
  return value && { body: { count: value.length, value } };
};

/** The platforms of `config/examples`, as documented: tokens, page sizes, filters, orders. */
export const EXAMPLE_PLATFORMS: Readonly<Record<string, ExamplePlatform>> = {
  'azure-devops': {
    env: { AZURE_DEVOPS_ORGANIZATION: 'acme' },
    token: ['authorization', 'Bearer '],
    lists: {
      '/acme/_apis/projects': [
        (id) => ({ id: `p-${id}`, name: NAME(id), description: 'about', state: 'wellFormed' }),
        azureDevOps,
      ],
      '/acme/{p-1}/_apis/pipelines': [(id) => ({ id, name: NAME(id), folder: '\\', revision: 1 }), azureDevOps],
      '/acme/_apis/extensionmanagement/installedextensions': [
        (id) => ({
          ...{ extensionId: `e-${id}`, extensionName: NAME(id), publisherId: 'acme', publisherName: 'Acme' },
          ...{ version: '1.0.0', isDisabled: false },
        }),
        azureDevOpsExtensions,
        [{ extensionId: 'old', extensionName: 'old', publisherId: 'acme', version: '1', isDisabled: true }],
      ],
    },
  },
  defectdojo: {
    env: { DEFECTDOJO_URL: 'https://defectdojo.example' },
    token: ['authorization', 'Token '],
    lists: {
      '/api/v2/products/': [(id) => ({ id, name: NAME(id), description: 'about', created: TIME(id) }), django],
      '/api/v2/engagements/': [
        (id) => ({ id, name: NAME(id), description: 'about', engagement_type: 'CI/CD', status: 'On Hold' }),
        django,
      ],
      '/api/v2/test_types/': [
        (id) => ({ id, name: NAME(id), active: true, static_tool: id % 2 === 0, dynamic_tool: false }),
        django,
      ],
    },
  },
  'dependency-track': {
    env: { DEPENDENCY_TRACK_URL: 'https://dtrack.example' },
    token: ['x-api-key', ''],
    lists: {
      // What is not `true` is taken for `false`.
      '/api/v1/project': [
        (id) => ({ uuid: `u-${id}`, name: NAME(id), version: '1', description: 'about', active: true }),
        dependencyTrack((items, query) =>
          items.filter(({ active }) => active || query.get('excludeInactive') !== 'true').reverse(),
        ),
        [{ uuid: 'u-0', name: 'gone', active: false }],
      ],
      '/api/v1/notification/rule': [
        (id) => ({ uuid: `u-${id}`, name: NAME(id), notifyOn: ['A'], triggerType: 'EVENT', enabled: true }),
        dependencyTrack(),
      ],
      '/api/v1/notification/publisher': [(id) => ({ uuid: `u-${id}`, name: NAME(id), description: 'about' }), whole()],
    },
  },
  github: {
    env: { GITHUB_OWNER: 'acme' },
    token: ['authorization', 'Bearer '],
    lists: {
      '/user/repos': [
        (id) => ({
          ...{ id, name: `app-${id}`, owner: { login: 'acme' }, full_name: NAME(id) },
          ...{ description: 'about', created_at: TIME(id) },
        }),
        github(
          ({ page }) => page,
          (items, query) => {
            const [sort, direction] = [query.get('sort') ?? 'full_name', query.get('direction') ?? 'asc'];
            if (!['created', 'full_name'].includes(sort) || !['asc', 'desc'].includes(direction)) return REFUSED;
            return sorted(items, sort === 'created' ? 'created_at' : sort, direction === 'desc');
          },
        ),
      ],
      '/repos/acme/{app-1}/actions/workflows': [
        (id) => ({ id, name: NAME(id), path: `.github/workflows/${id}.yml`, state: 'active' }),
        github(({ page, total }) => ({ total_count: total, workflows: page })),
      ],
      '/orgs/acme/installations': [
        (id) => ({ id, app_slug: `app-${id}`, suspended_at: null, permissions: { checks: 'read' } }),
        github(({ page, total }) => ({ total_count: total, installations: page })),
      ],
    },
  },
  gitlab: {
    env: { GITLAB_PROJECT_ID: '7' },
    token: ['private-token', ''],
    lists: {
      '/api/v4/projects': [
        (id) => ({
          ...{ id, name_with_namespace: NAME(id), description: 'about', created_at: TIME(id) },
          ...{ member: true, archived: false, web: 'much more', builds_access_level: 'enabled' },
        }),
        gitlab(
          all(
            flag('membership', (items, value) => (value ? items.filter(({ member }) => member) : items)),
            flag('archived', (items, value) =>
              value === undefined ? items : items.filter(({ archived }) => archived === value),
            ),
            (items, query) => {
              const [by, sort] = [query.get('order_by') ?? 'created_at', query.get('sort') ?? 'desc'];
              if (!['id', 'created_at'].includes(by) || !['asc', 'desc'].includes(sort)) return REFUSED;
              return sorted(items, by, sort === 'desc');
            },
            flag('simple', (items, value) => (value ? items.map(({ web: _web, ...simple }) => simple) : items)),
          ),
        ),
        [
          { id: 90_001, name_with_namespace: 'public', created_at: TIME(1), member: false, archived: false },
          { id: 90_002, name_with_namespace: 'old', created_at: TIME(1), member: true, archived: true },
        ],
      ],
      '/api/v4/projects/{1}/pipeline_schedules': [
        (id) => ({ id, description: NAME(id), cron: '0 1 * * *', cron_timezone: 'UTC', active: true }),
        gitlab(),
      ],
      '/api/v4/projects/7/integrations': [(id) => ({ slug: `s-${id}`, title: NAME(id) }), whole()],
    },
  },
  harbor: {
    env: { HARBOR_URL: 'https://harbor.example' },
    token: ['authorization', 'Basic '],
    lists: {
      '/api/v2.0/projects': [
        (id) => ({
          ...{ project_id: id, name: NAME(id), metadata: { public: 'true' } },
          ...{ creation_time: TIME(id), repo_count: 2 },
        }),
        harbor(
          all(
            harborSort,
            flag('with_detail', (items, value = true) =>
              value ? items : items.map(({ repo_count: _count, ...item }) => item),
            ),
          ),
        ),
      ],
      '/api/v2.0/replication/policies': [
        (id) => ({
          ...{ id, name: NAME(id), description: 'about', creation_time: TIME(id), trigger: { type: 'manual' } },
          ...(id % 2 === 1 && { enabled: true }),
        }),
        harbor(harborSort),
      ],
      '/api/v2.0/scanners': [
        (id) => ({ uuid: `u-${id}`, name: NAME(id), description: 'about', create_time: TIME(id) }),
        harbor(harborSort),
      ],
    },
  },
  n8n: {
    env: { N8N_URL: 'https://n8n.example' },
    token: ['x-n8n-api-key', ''],
    lists: {
      '/api/v1/projects': [
        (id) => ({ id: `p-${id}`, name: NAME(id), description: 'about', createdAt: TIME(id) }),
        n8n(),
      ],
      '/api/v1/workflows': [
        (id) => ({
          ...{
            id: `w-${id}`,
            name: NAME(id),
            description: 'about',
            active: true,
            isArchived: false,
            pinData: { node: [id] },
          },
          nodes: [{ type: 'n8n-nodes-base.webhook', disabled: false }],
        }),
        n8n(
          flag('excludePinnedData', (items, value) =>
            value ? items.map(({ pinData: _data, ...item }) => item) : items,
          ),
        ),
      ],
      '/api/v1/community-packages': [
        (id) => ({ packageName: `n8n-nodes-${id}`, installedVersion: '1.0.0', installedNodes: [{ name: 'n' }] }),
        whole(),
      ],
    },
  },
  opencti: {
    env: { OPENCTI_URL: 'https://opencti.example' },
    token: ['authorization', 'Bearer '],
    lists: {
      caseIncidents: [
        (id) => ({ id: `c-${id}`, name: NAME(id), description: 'about', created_at: TIME(id) }),
        opencti('caseIncidents'),
      ],
      // Of those that were never started.
      playbooks: [
        (id) => ({ id: `p-${id}`, name: NAME(id), description: 'about', playbook_running: null }),
        opencti('playbooks'),
      ],
      connectors: [
        (id) => ({ id: `c-${id}`, name: NAME(id), active: true, connector_type: 'T', connector_scope: ['s'] }),
        whole((connectors) => ({ data: { connectors } })),
      ],
    },
  },
  rapid7: {
    env: {},
    token: ['x-api-key', ''],
    lists: {
      '/ias/v1/apps': [(id) => ({ id: `a-${id}`, name: NAME(id), description: 'about' }), insight],
      '/connect/v2/workflows': [
        (id) => ({
          ...{ workflowId: `w-${id}`, state: 'active' },
          publishedVersion: { name: NAME(id), summary: 'about' },
        }),
        connect,
      ],
      '/ias/v1/engines': [(id) => ({ id: `e-${id}`, name: NAME(id), status: 'ONLINE' }), insight],
    },
  },
  rundeck: {
    env: { RUNDECK_URL: 'https://rundeck.example' },
    token: ['x-rundeck-auth-token', ''],
    lists: {
      '/api/33/projects': [
        (id) => ({ name: `p-${id}`, description: 'about', label: NAME(id), created: TIME(id) }),
        whole(),
      ],
      '/api/33/project/{p-1}/jobs': [
        (id) => ({
          ...{ id: `j-${id}`, name: NAME(id), group: null, project: 'p-1', description: 'about' },
          ...{ scheduled: false, scheduleEnabled: true, enabled: true },
        }),
        (items, { query }) => {
          const max = Number(query.get('max') ?? 0);
          const start = Number(query.get('offset') ?? 0);
          return { body: max > 0 ? items.slice(start, start + max) : items };
        },
      ],
      '/api/33/plugin/list': [
        (id) => ({
          ...{ id: 'file', name: `plugin-${id}`, title: NAME(id), service: 'NodeExecutor' },
          ...{ pluginVersion: '1.0.0', description: 'about', builtin: false },
        }),
        whole(),
      ],
    },
  },
  sentry: {
    env: { SENTRY_ORGANIZATION: 'acme' },
    token: ['authorization', 'Bearer '],
    lists: {
      '/api/0/organizations/acme/projects/': [
        (id) => ({ id: `${id}`, slug: `p-${id}`, name: NAME(id), platform: 'python', dateCreated: TIME(id) }),
        sentry,
      ],
      '/api/0/organizations/acme/workflows/': [
        (id) => ({
          ...{ id: `${id}`, name: NAME(id), enabled: true, triggers: { conditions: [{ type: 'first_seen_event' }] } },
          actionFilters: [{ actions: [{ type: 'email' }] }],
        }),
        sentry,
      ],
      '/api/0/organizations/acme/integrations/': [
        (id) => ({ id: `${id}`, name: NAME(id), domainName: 'a.example', provider: { key: 'slack', name: 'Slack' } }),
        sentry,
      ],
    },
  },
  shuffle: {
    env: { SHUFFLE_ORG_ID: 'org' },
    token: ['authorization', 'Bearer '],
    lists: {
      '/api/v1/orgs': [(id) => ({ id: `o-${id}`, name: NAME(id), description: 'about' }), whole()],
      '/api/v1/workflows': [
        (id) => ({ id: `w-${id}`, name: NAME(id), description: 'about', status: 'test', triggers: null }),
        whole(),
      ],
      '/api/v1/apps': [
        (id) => ({
          ...{ id: `a-${id}`, name: NAME(id), app_version: '1.0', is_valid: true },
          ...{ categories: ['c'], description: 'about' },
        }),
        whole(),
      ],
    },
  },
  thehive: {
    env: { THEHIVE_URL: 'https://thehive.example', THEHIVE_ORGANISATION: 'soc' },
    token: ['authorization', 'Bearer '],
    lists: {
      listCase: [
        (id) => ({ _id: `~${id}`, title: NAME(id), description: 'about', _createdAt: 1_759_762_494_123 + id }),
        thehive,
      ],
      listCaseTemplate: [
        (id) => ({ _id: `~${id}`, name: NAME(id), displayName: NAME(id), description: 'about' }),
        thehive,
      ],
      '/api/v1/connector/cortex/analyzer': [
        (id) => ({
          ...{ id: `a-${id}`, name: NAME(id), version: '1.0.0' },
          ...{ description: 'about', dataTypeList: ['ip'] },
        }),
        (items, { query }) => ({ body: query.get('range') === 'all' ? items : items.slice(0, 10) }),
      ],
    },
  },
  tines: {
    env: { TINES_DOMAIN: 'a.tines.example' },
    token: ['authorization', 'Bearer '],
    lists: {
      '/api/v1/teams': [
        (id) => ({ id, name: NAME(id), groups: [{ id, name: 'g' }], personal: id % 2 === 0 }),
        tines('teams', (items, query) =>
          items.filter(({ personal }) => personal !== true || query.get('scope') === 'all'),
        ),
      ],
      '/api/v1/stories': [(id) => ({ id, name: NAME(id), description: 'about', disabled: false }), tines('stories')],
      '/api/v1/user_credentials': [
        (id) => ({ id, name: NAME(id), mode: 'TEXT', description: 'about' }),
        tines('user_credentials'),
      ],
    },
  },
  wazuh: {
    env: {
      ...{ WAZUH_URL: 'https://wazuh.example', WAZUH_USER: 'portico', WAZUH_PASSWORD: 'hush-hush' },
      ...{ PUBLIC_URL: 'https://portico.example', ISSUER_URL: 'https://login.example' },
    },
    token: ['authorization', 'Bearer '],
    login: ['/security/user/authenticate', (token) => ({ data: { token }, error: 0 })],
    lists: {
      '/groups': [(id) => ({ name: NAME(id), count: id, mergedSum: 'f8d4', configSum: 'ab73' }), wazuh],
      '/rules': [
        (id) => ({
          ...{ filename: '0020-syslog_rules.xml', relative_dirname: 'ruleset/rules', id, level: 2, status: 'enabled' },
          ...{ groups: ['syslog'], description: NAME(id) },
        }),
        wazuh,
      ],
      '/agents': [
        (id) => ({
          ...{ id: `${id}`.padStart(3, '0'), name: NAME(id), status: 'active', version: 'Wazuh v4.14.7' },
          os: { name: 'Ubuntu', platform: 'ubuntu', version: '24.04' },
        }),
        wazuh,
      ],
    },
  },
};

/** Whether `pathname` is that of a list, and whether its parent is the one that has the items. */
function parentIn(name: string, pathname: string): { readonly hasItems: boolean } | undefined {
  const [before = '', parent, after] = name.split(/[{}]/);
  if (parent === undefined || after === undefined) return name === pathname ? { hasItems: true } : undefined;
  if (!pathname.startsWith(before) || !pathname.endsWith(after)) return undefined;
  const segment = pathname.slice(before.length, pathname.length - after.length);
  return segment.includes('/') ? undefined : { hasItems: segment === parent };
}

/** The text of `config/examples/<example>.yaml`, with the platform at `url`. */
export function exampleSettings(example: string, url: string): string {
  const text = readFileSync(new URL(`../../../config/examples/${example}.yaml`, import.meta.url), 'utf8');
  return text.replace(/^( +(?:baseUrl|loginUrl): )(?:https:\/\/[^/\n]*|\$\{[^}]+\})/gm, `$1${url}`);
}

/**
 * Answers as the platform of an example does, with `lengthOf(index)` items in each list; 401 unless `token` is sent.
 * `fitsAll`: its filters leave no item out.
 */
export function answerAs(
  { token: [header, prefix], login: [loginPath, loggedIn] = ['', String], lists }: ExamplePlatform,
  { token, lengthOf, fitsAll = false }: { token?: string; lengthOf: (index: number) => number; fitsAll?: boolean },
): RequestListener {
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://a.example');
    const posted = await textOf(request);
    const isRequested = (name: string) =>
      name.startsWith('/') ? parentIn(name, pathname) !== undefined : new RegExp(`\\b${name}\\b`).test(posted);
    const listed = Object.keys(lists).findIndex(isRequested);
    const list = Object.values(lists)[listed];
    const reply = (status: number, body: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (pathname === loginPath && request.method === 'POST') {
      const isBasic = request.headers.authorization?.startsWith('Basic ') === true;
      return isBasic ? reply(200, loggedIn(token ?? 'any')) : reply(401, { error: 'who?' });
    }
    if (token !== undefined && request.headers[header] !== `${prefix}${token}`) return reply(401, { error: 'who?' });
    if (list === undefined) return reply(404, { error: 'where?' });
    const [item, answerList, others = []] = list;
    const isEmpty = parentIn(Object.keys(lists)[listed] ?? '', pathname)?.hasItems === false;
    const items = Array.from({ length: isEmpty ? 0 : lengthOf(listed) }, (_, index) => item(index + 1));
    const url = `http://${request.headers.host}${pathname}`;
    const body = posted === '' ? {} : JSON.parse(posted);
    const answer = answerList([...items, ...(fitsAll ? [] : others)], { query: searchParams, body, url });
    return answer === undefined ? reply(400, { error: 'what?' }) : reply(200, answer.body, answer.headers);
  };
}

/** Lists of examples whose platform answers a request without page parameters with its first page. */
export const PAGED_LISTS = [
  ['github', 'projects'],
  ['gitlab', 'projects'],
  ['rapid7', 'projects'],
  ['rapid7', 'workflows'],
  ['defectdojo', 'projects'],
  ['dependency-track', 'projects'],
  ['harbor', 'projects'],
  ['n8n', 'projects'],
  ['tines', 'workflows'],
] as const;

/** How many items each of {@link PAGED_LISTS} has: several pages. */
export const ITEMS = 120;

/**
 * Serves one of {@link PAGED_LISTS} until the test ends. Returns settings that offer only this list, as its example does, with
 * `pagination` in place of the example's.
 */
export async function servePagedList([example, resource]: (typeof PAGED_LISTS)[number]): Promise<
  (pagination?: object) => SettingsInput
> {
  const platform = EXAMPLE_PLATFORMS[example] as ExamplePlatform;
  const { url } = await listen(createServer(answerAs(platform, { lengthOf: () => ITEMS })));
  const text = exampleSettings(example, url).replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name) => platform.env[name] ?? '');
  const { upstreams, resources } = parse(text, { logLevel: 'error' }) as SettingsInput;
  const others = { projects: { enabled: false }, workflows: { enabled: false }, tools: { enabled: false } };
  return (pagination) => ({
    http: { port: 0 },
    admin: { enabled: false },
    log: { level: 'silent' },
    upstreams,
    resources: { ...others, [resource]: { ...resources?.[resource], ...(pagination && { pagination }) } },
  });
}
