import { expect } from 'chai';
import { parseSettings } from '../../../../../src/core/config/load-config.ts';
import { NAMES } from '../../../../support/resources.ts';
import { BASE, issues, issuesOfTools, parsed } from '../parsed.ts';

const PAGING = ['none', 'token', 'offset', 'page', 'link'];
const CONSTANT = 'names no field, so it is the same for every reply: quotes and backticks turn a name into text';
const PAGE_TOTAL = 'is the length of one page: set it to the total number of items in the reply, or remove it';
const IN_ADDRESS =
  'carries a credential, which must not be part of a URL, because platforms and proxies log URLs: send it as a header, by credential or headers of the upstream';
const PATH = 'path: must begin with / and hold no query (which has a key of its own), fragment, space or backslash';
const BRACE = /^path: has a variable other than/;
const SEGMENT = 'path: has a segment that is empty, . or ..';
const BODY_TYPE = 'body: must be a block of keys, each as "key: value"';
const NO_BODY = 'points into body (it begins with /), and there is none';
const BODY = { page: { size: 1, token: null, 'a/b': '' }, list: [0] };
/** Settings of a list that is posted for, in pages by token at these places. */
const posting = (pointers: object, body: object = BODY) => ({
  ...{ method: 'POST', body, pagination: { kind: 'token', ...pointers } },
});

/** Settings of tools that are wrong, with all that is wrong with them. */
const WRONG: readonly (readonly [tools: object, ...issues: (string | RegExp)[]])[] = [
  [{ upstream: 'ap' }, 'upstream: must be a key of upstreams: api'],
  [{ upstream: 'toString' }, /^upstream: must be a key/],
  ...['a\nb', 'Ignore this. Do that', '', 'a '].map((word) => {
    return [{ keywords: [word] }, 'keywords[0]: must be one or more words of letters and digits'] as const;
  }),
  [{ keywords: ['x'.repeat(41)] }, /^keywords/],
  [{ keywords: Array(21).fill('a') }, /^keywords/],
  ...['', 'a', 'https://a/b', '/a?', '/a?b=1', '/a#b', '/a b', '/a\\b', '/a\0', '/a\u001b[31m'].map(
    (path) => [{ path }, PATH] as const,
  ),
  ...['/{', '/}', '/{}', '/{a}', '/{a-b}', '/}a{', '/{{a}}', '/orgs/:org/p'].map((path) => [{ path }, BRACE] as const),
  ...['//', '/a//b', '/.', '/..', '/./a', '/a/../b'].map((path) => [{ path }, SEGMENT] as const),
  [{ query: { a: [] } }, 'query.a: Too small: expected array to have >=1 items'],
  [{ query: { a: ['x', {}] } }, 'query.a[1]: must be text'],
  [{ query: { a: ['x', 'é'] } }, 'query.a[1]: must be printable ASCII'],
  [{ query: { a: 'é' } }, 'query.a: must be printable ASCII'],
  ...['api_key', 'apikey', 'API-Key', 'x-api-key', 'access_token', 'token', 'auth', 'client_secret', 'sig'].map(
    (name) => [{ query: { [name]: 'x' } }, `query.${name}: ${IN_ADDRESS}`] as const,
  ),
  ...['Password', 'passwd', 'subscription-key', 'authToken', 'jwt', 'session_token'].map(
    (name) => [{ query: { [name]: 'x' } }, `query.${name}: ${IN_ADDRESS}`] as const,
  ),
  ...['AIzaSyA1b2C3d4E5f6G7h8I9', ['x', 'AIzaSyA1b2C3d4E5f6G7h8I9']].map(
    (key) => [{ query: { key } }, `query.key: ${IN_ADDRESS}`] as const,
  ),
  [
    { query: { pageSize: 5, pageToken: 'a', installed: true } },
    'query.pageSize: is the sizeParam of pagination',
    'query.pageToken: is the tokenParam of pagination',
  ],
  [{ query: { limit: 1, per_page: 1 }, pagination: { kind: 'offset' } }, 'query.limit: is the sizeParam of pagination'],
  [{ pagination: { kind: 'link', size: 1 } }, 'pagination.size: Too small: expected number to be >=2'],
  [{ body: { a: 1 }, retryPost: true }, 'body: needs method: POST', 'retryPost: needs method: POST'],
  [{ method: 'PUT' }, 'method: must be one of GET, POST'],
  [{ method: 'POST', body: [] }, BODY_TYPE],
  [posting({ tokenParam: '/a' }, 5 as never), BODY_TYPE],
  [{ method: 'POST', body: { a: 2 ** 60 } }, 'body: has a number of more than 15 digits: put it in quotes'],
  ...['/page/next', '/list/1', '/list/00', '/list/-', '/list/length'].map((tokenParam) => {
    const issue = 'leads nowhere in body: write there what the first page is asked for with, or null';
    return [posting({ tokenParam }), `pagination.tokenParam: ${issue}`] as const;
  }),
  [posting({ tokenParam: '/page' }), 'pagination.tokenParam: leads to a block or list of body, not to a value'],
  [
    posting({ tokenParam: '/page/~x' }),
    'pagination.tokenParam: is no JSON pointer: write ~0 for ~, and ~1 for / in a name',
  ],
  [
    posting({ sizeParam: '/page/size', tokenParam: '/page/size' }),
    'pagination.tokenParam: must not be the parameter that sizeParam names',
  ],
  [
    { method: 'POST', pagination: { kind: 'offset', sizeParam: '/n', offsetParam: '/from' } },
    `pagination.sizeParam: ${NO_BODY}`,
    `pagination.offsetParam: ${NO_BODY}`,
  ],
  [{ pagination: { kind: 'page', pageParam: '/page' } }, `pagination.pageParam: ${NO_BODY}`],
  ...[
    [{ query: { api_key: 'x' } }, `each.query.api_key: ${IN_ADDRESS}`] as const,
    [{ pagination: { kind: 'page', pageParam: '/page' } }, `each.pagination.pageParam: ${NO_BODY}`] as const,
    [{ pagination: { kind: 'page', total: 'length(@)' } }, `each.pagination.total: ${PAGE_TOTAL}`] as const,
  ].map(([parents, issue]) => [{ path: '/a/{parent.id}', each: { path: '/p', ...parents } }, issue] as const),
  [{ lists: [{ path: '/a', query: { pageSize: 5 } }] }, 'lists[0].query.pageSize: is the sizeParam of pagination'],
  [
    { ...posting({}), lists: [{ path: '/a', pagination: { kind: 'token', tokenParam: '/page/next' } }] },
    /^lists\[0\]\.pagination\.tokenParam: leads nowhere in body/,
  ],
  [
    { pagination: { kind: 'page', sizeParam: 'page' } },
    'pagination.pageParam: must not be the parameter that sizeParam names',
  ],
  [
    { pagination: { kind: 'offset', sizeParam: null, offsetParam: 'from', endParam: 'from' } },
    'pagination.endParam: must not be the parameter that offsetParam names',
  ],
  ...PAGING.flatMap((kind) => [
    [{ pagination: { kind, total: 'length(tools)' } }, `pagination.total: ${PAGE_TOTAL}`] as const,
    [
      { items: 'data.list', pagination: { kind, total: 'data | length(list)' } },
      `pagination.total: ${PAGE_TOTAL}`,
    ] as const,
  ]),
  [{ items: '`[]`' }, `items: ${CONSTANT}`],
  [{ items: "'tools'" }, `items: ${CONSTANT}`],
  [{ where: '`false`' }, `where: ${CONSTANT}`],
  [{ where: 'not_null(\'a\', `{"b": 1}`)' }, `where: ${CONSTANT}`],
  [{ pagination: { kind: 'token', next: "'next'" } }, `pagination.next: ${CONSTANT}`],
  [{ pagination: { kind: 'link', next: "'next'" } }, `pagination.next: ${CONSTANT}`],
  [{ pagination: { kind: 'offset', total: '`0`' } }, `pagination.total: ${CONSTANT}`],
  [{ fields: { id: "'x'" } }, `fields.id: ${CONSTANT}`],
  [{ fields: { id: { from: '`null`' } } }, `fields.id.from: ${CONSTANT}`],
  ...['never', '2026-01-02', '2026-01-02T03:04:05+01:00', '1767323045'].map((time) => {
    const issue = 'fields.version.default: must be a timestamp such as 2026-01-02T03:04:05Z';
    return [{ fields: { version: { default: time, format: 'timestamp' } } }, issue] as const;
  }),
];

/** Settings of tools with which nothing is wrong. */
const RIGHT: readonly object[] = [
  { keywords: ['SOAR app', 'Bausteine', '連携', 'add-on', '3rd_party'] },
  ...['/', '/a/b', '/a%20b', '/a:b(c)', '/a/..b', '/.well-known/a', '/...'].map((path) => ({ path })),
  ...['key', 'sort_key', 'keys', 'tokens', 'author', 'group', 'state', 'with_secrets', 'sigma'].map((name) => {
    return { query: { [name]: 'SCANNERS' } };
  }),
  { query: { pageSize: 5, pageToken: 'a' }, pagination: { kind: 'none' } },
  { query: { per_page: 1 }, pagination: { kind: 'link', sizeParam: null } },
  { method: 'POST' },
  { method: 'POST', retryPost: true },
  posting({ sizeParam: '/page/size', tokenParam: '/page/a~1b' }),
  posting({ sizeParam: '/list/0', tokenParam: 'cursor' }),
  ...['@', '$', '[0]', '[]', '*', '[1:]', '[*].a', 'length(@)'].map((items) => ({ items })),
  { where: "'a' == b" },
  { fields: { id: "join('-', [a, 'x'])", category: "'other'" } },
  ...['', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.5Z'].map((time) => {
    return { fields: { version: { default: time, format: 'timestamp' } } };
  }),
  { fields: { version: { default: 'latest' } } },
];

describe('the settings of a resource', () => {
  for (const [tools, ...expected] of WRONG) {
    it(`refuse ${JSON.stringify(tools).slice(0, 120)}: ${expected[0]}`, () => {
      const found = issuesOfTools(tools);
      expect(found).to.have.length(expected.length);
      for (const [index, issue] of expected.entries()) {
        if (typeof issue === 'string') expect(found[index]).to.equal(issue);
        else expect(found[index]).to.match(issue);
      }
    });
  }

  for (const tools of RIGHT) {
    it(`accept ${JSON.stringify(tools)}`, () => {
      expect(issuesOfTools(tools)).to.deep.equal([]);
    });
  }

  it('offer each with an existing upstream, and no other', () => {
    const offered = (upstreams: readonly string[], resources = {}) => {
      const config = parseSettings({ upstreams: Object.fromEntries(upstreams.map((name) => [name, BASE])), resources });
      return Object.entries(config.resources).flatMap(([name, { enabled }]) => (enabled ? [name] : []));
    };
    expect(offered(['projects', 'workflows', 'tools'])).to.deep.equal(['projects', 'workflows', 'tools']);
    expect(offered(['tools'])).to.deep.equal(['tools']);
    expect(offered(['api', 'tools'], { workflows: { upstream: 'api' } })).to.deep.equal(['workflows', 'tools']);
    expect(offered(['projects', 'tools'], { tools: { enabled: false } })).to.deep.equal(['projects']);
    // What is switched off may stay in the file, or go from it in part.
    expect(offered(['tools'], { projects: { enabled: false, upstream: 'gone' } })).to.deep.equal(['tools']);
  });

  it('name the upstream of each, and are unchanged when they are parsed again', () => {
    const tools = {
      path: '/a',
      query: { a: 1, b: true },
      fields: { id: 'uuid' },
      pagination: { kind: 'link' },
    } as const;
    const config = parseSettings({ upstreams: { tools: BASE }, resources: { tools } });
    expect(config.resources.tools).to.include({ upstream: 'tools', enabled: true, path: '/a' });
    expect(config.resources.projects).to.include({ upstream: 'projects', enabled: false });
    expect(parseSettings(config)).to.deep.equal(config);
  });

  it('offer one at least', () => {
    const off = Object.fromEntries(NAMES.map((name) => [name, { enabled: false }]));
    expect(issues({ resources: off })).to.deep.equal(['resources: are all disabled: at least one must be offered']);
    expect(issues({ upstreams: {}, resources: {} })).to.deep.equal([
      `upstreams: must define the upstream of at least one resource: ${NAMES.join(', ')}`,
    ]);
  });

  for (const [upstreams, tools, issue] of [
    [
      { extra: BASE },
      {},
      'upstreams.extra: is not the upstream of any resource; set upstream: extra in those that it serves',
    ],
    // One slip is one issue.
    [{ b: BASE }, { upstream: 'c' }, 'resources.tools.upstream: must be a key of upstreams: api, b'],
    [{ b: BASE }, { upstream: 5 }, 'resources.tools.upstream: must be text: put it in quotes'],
  ] as const) {
    it(`have no upstream that belongs to none of them: ${issue}`, () => {
      expect(issues({ upstreams: { api: BASE, ...upstreams }, tools })).to.deep.equal([issue]);
    });
  }

  it('have no upstream with a misspelt name', () => {
    expect(issues({ upstreams: { projects: BASE, workflows: BASE, tolls: BASE }, resources: {} })).to.deep.equal([
      'upstreams.tolls: is not the upstream of any resource; did you mean tools?',
    ]);
  });

  it('send each entry of query and body as it is written', () => {
    const body = { query: 'x', list: [1, { a: null }] };
    const { tools } = parsed({ tools: { query: { a: ['x', 1, true], b: 'y' }, method: 'POST', body } }).resources;
    expect(tools).to.deep.include({ query: { a: ['x', '1', 'true'], b: 'y' }, method: 'POST', body, retryPost: false });
  });

  it('take an expression for a field in place of a block', () => {
    const { fields } = parsed({ tools: { fields: { id: 'a.b', name: { default: 'x' }, version: 'v' } } }).resources
      .tools;
    expect(fields['id']).to.deep.equal({ from: 'a.b', default: '', values: {}, format: 'none' });
    expect(fields['name']).to.deep.equal({ from: 'name', default: 'x', values: {}, format: 'none' });
    expect(fields['version']).to.include({ from: 'v', format: 'version' });
  });

  it('have a cache for what is stored only', () => {
    const { workflows, tools, projects } = parsed({ tools: { cache: { ttlMs: 0 } } }).resources;
    const cache = { ttlMs: 60_000, staleWhileRevalidateMs: 300_000, staleIfErrorMs: 3_600_000 };
    expect([workflows.cache, tools.cache]).to.deep.equal([cache, { ...cache, ttlMs: 0 }]);
    expect(projects).not.to.have.property('cache');
    expect(issues({ resources: { projects: { cache: { ttlMs: 0 } } } })[0]).to.contain(
      'resources.projects.cache: Unrecognized key',
    );
  });

  it('name the documented fields where one is unknown', () => {
    expect(issues({ resources: { projects: { fields: { title: 'x' } } } })[0]).to.equal(
      'resources.projects.fields.title: Unrecognized key; known are id, name, description, createTime',
    );
  });
});
