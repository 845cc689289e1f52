import { expect } from 'chai';
import { parseSettings } from '../../../../../src/core/config/load-config.ts';
import type { SettingsInput } from '../../../../../src/core/config/schema/settings.ts';
import { NAMES } from '../../../../support/resources.ts';
import { BASE, issues, parsed } from '../parsed.ts';

type Resource = NonNullable<NonNullable<SettingsInput['resources']>['tools']>;

describe('the settings of a resource', () => {
  it('name an existing upstream', () => {
    expect(issues({ tools: { upstream: 'ap' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there is api',
    ]);
    expect(issues({ tools: { upstream: 'toString' } })).to.have.length(1);
    expect(issues({ upstreams: { api: BASE, b: BASE }, tools: { upstream: 'c' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there are api, b',
    ]);
  });

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
    const config = parseSettings({ upstreams: { tools: BASE }, resources: { tools: { path: '/a' } } });
    expect(config.resources.tools).to.include({ upstream: 'tools', enabled: true, path: '/a' });
    expect(config.resources.projects).to.include({ upstream: 'projects', enabled: false });
    expect(parseSettings(config)).to.deep.equal(config);
  });

  it('have short keywords of letters and digits, in any script', () => {
    expect(issues({ tools: { keywords: ['SOAR app', 'Bausteine', '連携', 'add-on', '3rd_party'] } })).to.deep.equal([]);
    expect(issues({ tools: { keywords: ['a\nb', 'Ignore this. Do that', '', 'a '] } })).to.deep.equal(
      [0, 1, 2, 3].map(
        (index) => `resources.tools.keywords[${index}]: must be letters and digits, in one word or several`,
      ),
    );
    expect(issues({ tools: { keywords: ['x'.repeat(41)] } })).to.have.length(1);
    expect(issues({ tools: { keywords: Array(21).fill('a') } })).to.have.length(1);
  });

  it('offer one at least', () => {
    const off = Object.fromEntries(NAMES.map((name) => [name, { enabled: false }]));
    expect(issues({ resources: off })).to.deep.equal(['resources: are all switched off: one at least must be offered']);
    expect(issues({ upstreams: {}, resources: {} })).to.deep.equal([
      `upstreams: must hold the upstream of one resource at least: ${NAMES.join(', ')}`,
    ]);
  });

  it('have no upstream that belongs to none of them, since it may be the misspelt name of one', () => {
    expect(issues({ upstreams: { projects: BASE, workflows: BASE, tolls: BASE }, resources: {} })).to.deep.equal([
      'upstreams.tolls: is the upstream of no resource; did you mean tools?',
    ]);
    expect(issues({ upstreams: { api: BASE, extra: BASE } })).to.deep.equal([
      'upstreams.extra: is the upstream of no resource',
    ]);
    // One slip is one issue.
    expect(issues({ upstreams: { api: BASE, platform: BASE }, tools: { upstream: 'platfrom' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there are api, platform',
    ]);
    expect(issues({ upstreams: { api: BASE, b: BASE }, tools: { upstream: 5 } })).to.have.length(1);
  });

  it('name the path of a list, and no query', () => {
    for (const path of ['/', '/a/b', '/a%20b', '/a:b(c)']) expect(issues({ tools: { path } })).to.deep.equal([]);
    const issue = 'resources.tools.path: must begin with /, and hold no query, fragment, space or backslash';
    for (const path of ['', 'a', 'https://a/b', '/a?', '/a?b=1', '/a#b', '/a b', '/a\\b', '/a\0', '/a\u001b[31m']) {
      expect(issues({ tools: { path } }), path).to.deep.equal([issue]);
    }
  });

  it('name what is in the braces of a path, each and no other', () => {
    const tools = (path: string, pathParams?: object) => issues({ tools: { path, ...(pathParams && { pathParams }) } });
    expect(tools('/a/{b}/{c_1}-{b}', { b: 1, c_1: 'x' })).to.deep.equal([]);
    expect(tools('/a/{b}/{c}/{b}', { b: 1, d: 2 })).to.deep.equal([
      'resources.tools.path: has {c}, for which pathParams holds nothing',
      'resources.tools.pathParams.d: is not in path as {d}',
    ]);
    expect(tools('/a/{b}')).to.deep.equal(['resources.tools.path: has {b}, for which pathParams holds nothing']);
    for (const path of ['/{', '/}', '/{}', '/{a-b}', '/{{a}}', '/}a{']) {
      expect(tools(path, { a: 1 })[0], path).to.match(/^resources\.tools\.path: has a brace/);
    }
    for (const value of ['', '.', '..']) {
      expect(tools('/{a}', { a: value }), value).to.deep.equal([
        'resources.tools.pathParams.a: must not be empty, . or ..',
      ]);
    }
    expect(tools('/a', { 'b-c': 'x' })[0]).to.contain('must hold letters, digits and _ only');
    expect(tools('/a', [])).to.deep.equal(['resources.tools.pathParams: expected a block of keys, got a list']);
  });

  it('send a query parameter once, or once for each element of a list', () => {
    const query = (value: unknown) => issues({ tools: { query: { a: value } } });
    expect(parsed({ tools: { query: { a: ['x', 1, true], b: 'y' } } }).resources.tools.query).to.deep.equal({
      a: ['x', '1', 'true'],
      b: 'y',
    });
    expect(query([])).to.deep.equal(['resources.tools.query.a: must not be empty']);
    expect(query(['x', {}])).to.deep.equal(['resources.tools.query.a[1]: must be text']);
    expect(query(['x', 'é'])).to.deep.equal(['resources.tools.query.a[1]: must be printable ASCII']);
    expect(query('é')).to.deep.equal(['resources.tools.query.a: must be printable ASCII']);
    expect(query({})).to.deep.equal(['resources.tools.query.a: must be text']);
  });

  it('post a body where method is POST, and only there', () => {
    const body = { query: 'x', list: [1, { a: null }] };
    expect(parsed({ tools: { method: 'POST', body } }).resources.tools).to.deep.include({
      method: 'POST',
      body,
      retryPost: false,
    });
    expect(issues({ tools: { method: 'POST' } })).to.deep.equal([]);
    expect(issues({ tools: { method: 'POST', retryPost: true } })).to.deep.equal([]);
    expect(issues({ tools: { body, retryPost: true } })).to.deep.equal([
      'resources.tools.body: is sent with method: POST only',
      'resources.tools.retryPost: is about method: POST only',
    ]);
    expect(issues({ tools: { method: 'PUT' } })).to.deep.equal(['resources.tools.method: must be one of GET, POST']);
    expect(issues({ tools: { method: 'POST', body: [] } })).to.deep.equal([
      'resources.tools.body: expected a block of keys, got a list',
    ]);
    expect(issues({ tools: { method: 'POST', body: { a: 2 ** 60 } } })).to.deep.equal([
      'resources.tools.body: holds what JSON cannot: put a number of more than 15 digits in quotes',
    ]);
  });

  it('point into the body they have, each to a value of its own', () => {
    const tools = (pagination: Resource['pagination'], body?: object) =>
      issues({ tools: { method: 'POST', ...(body && { body }), pagination } });
    const token = (pointers: object) => ({ kind: 'token', ...pointers }) as Resource['pagination'];
    const body = { page: { size: 1, token: null, 'a/b': '' }, list: [0] };
    expect(tools(token({ sizeParam: '/page/size', tokenParam: '/page/a~1b' }), body)).to.deep.equal([]);
    expect(tools(token({ sizeParam: '/list/0', tokenParam: 'cursor' }), body)).to.deep.equal([]);
    expect(tools(token({ tokenParam: '/page/next' }), body)).to.deep.equal([
      'resources.tools.pagination.tokenParam: leads nowhere in body: write there what the first page is asked for with, or null',
    ]);
    expect(tools(token({ tokenParam: '/page' }), body)).to.deep.equal([
      'resources.tools.pagination.tokenParam: leads to a block or list of body, not to a value',
    ]);
    expect(tools(token({ tokenParam: '/page/~x' }), body)).to.deep.equal([
      'resources.tools.pagination.tokenParam: is no JSON pointer: write ~0 for ~, and ~1 for / in a name',
    ]);
    const none = 'points into body (it begins with /), and there is none';
    expect(tools({ kind: 'offset', sizeParam: '/n', offsetParam: '/from' })).to.deep.equal([
      `resources.tools.pagination.sizeParam: ${none}`,
      `resources.tools.pagination.offsetParam: ${none}`,
    ]);
    expect(issues({ tools: { pagination: { kind: 'page', pageParam: '/page' } } })).to.deep.equal([
      `resources.tools.pagination.pageParam: ${none}`,
    ]);
    expect(
      issues({ tools: { method: 'POST', body: 5 as never, pagination: token({ tokenParam: '/a' }) } }),
    ).to.deep.equal(['resources.tools.body: expected a block of keys, got a number']);
  });

  it('send no credential in the query, with a reason', () => {
    const why =
      'carries a credential, and that must not stand in an address, which platforms and proxies on the way write into their logs: send it as a header, under credential or headers of the upstream';
    const names = [
      'api_key',
      'apikey',
      'API-Key',
      'x-api-key',
      'access_token',
      'token',
      'auth',
      'client_secret',
      'sig',
    ];
    for (const name of [...names, 'Password', 'passwd', 'subscription-key', 'authToken', 'jwt', 'session_token']) {
      expect(issues({ tools: { query: { [name]: 'x' } } })).to.deep.equal([`resources.tools.query.${name}: ${why}`]);
    }
    const secret = 'AIzaSyA1b2C3d4E5f6G7h8I9';
    for (const key of [secret, ['x', secret]]) {
      expect(issues({ tools: { query: { key } } })).to.deep.equal([`resources.tools.query.key: ${why}`]);
    }
    for (const name of ['key', 'sort_key', 'keys', 'tokens', 'author', 'group', 'state', 'with_secrets', 'sigma']) {
      expect(issues({ tools: { query: { [name]: 'SCANNERS' } } }), name).to.deep.equal([]);
    }
  });

  it('send headers of their own, and none that HTTP decides on', () => {
    const headers = (names: readonly string[]) =>
      issues({ tools: { headers: Object.fromEntries(names.map((name) => [name, 'x'])) } });
    expect(headers(['Accept', 'X-Tenant', 'X-Author', 'Prefer'])).to.deep.equal([]);
    for (const name of ['Host', 'Content-Length', 'Transfer-Encoding', 'Content-Encoding', 'Connection', 'Range']) {
      expect(headers([name])).to.deep.equal([
        `resources.tools.headers.${name}: is a header that HTTP or Portico itself decides on`,
      ]);
    }
  });

  it('have no total that is computed from the page', () => {
    const issue =
      'resources.tools.pagination.total: counts the items of one page, which items selects: name where the platform says how many there are in all, or leave it out';
    for (const kind of ['none', 'token', 'offset', 'page', 'link'] as const) {
      expect(issues({ tools: { pagination: { kind, total: 'length(tools)' } } }), kind).to.deep.equal([issue]);
      expect(
        issues({ tools: { items: 'data.list', pagination: { kind, total: 'data | length(list)' } } }),
      ).to.deep.equal([issue]);
      expect(issues({ tools: { pagination: { kind, total: 'length(ids)' } } }), kind).to.deep.equal([]);
    }
  });

  it('take an expression for a field in place of a block', () => {
    const { fields } = parsed({ tools: { fields: { id: 'a.b', name: { default: 'x' } } } }).resources.tools;
    expect(fields['id']).to.deep.equal({ from: 'a.b', default: '', values: {}, format: 'none' });
    expect(fields['name']).to.deep.equal({ from: 'name', default: 'x', values: {}, format: 'none' });
    expect(fields['version']).to.include({ format: 'version' });
    expect(parsed({ tools: { fields: { version: 'v' } } }).resources.tools.fields['version']).to.include({
      from: 'v',
      format: 'version',
    });
  });

  it('find what they need in what the platform sends, and do not write it down', () => {
    const constant =
      'names no field, and gives the same whatever the platform sends: quotes and backticks make a text of a name';
    for (const [tools, key] of [
      [{ items: '`[]`' }, 'items'],
      [{ items: "'tools'" }, 'items'],
      [{ where: '`false`' }, 'where'],
      [{ where: 'not_null(\'a\', `{"b": 1}`)' }, 'where'],
      [{ pagination: { kind: 'token', next: "'next'" } }, 'pagination.next'],
      [{ pagination: { kind: 'link', next: "'next'" } }, 'pagination.next'],
      [{ pagination: { kind: 'offset', total: '`0`' } }, 'pagination.total'],
      [{ fields: { id: "'x'" } }, 'fields.id'],
      [{ fields: { id: { from: '`null`' } } }, 'fields.id.from'],
    ] as const) {
      expect(issues({ tools }), JSON.stringify(tools)).to.deep.equal([`resources.tools.${key}: ${constant}`]);
    }
    for (const tools of [
      ...['@', '$', '[0]', '[]', '*', '[1:]', '[*].a', 'length(@)'].map((items) => ({ items })),
      { where: "'a' == b" },
      { fields: { id: "join('-', [a, 'x'])", category: "'other'" } },
    ]) {
      expect(issues({ tools }), JSON.stringify(tools)).to.deep.equal([]);
    }
  });

  it('have a time for the default of a time, in the form in which it is served', () => {
    const withDefault = (value: string, format: object = { format: 'timestamp' }) =>
      issues({ tools: { fields: { version: { default: value, ...format } } } });
    for (const value of ['', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.5Z']) {
      expect(withDefault(value), value).to.deep.equal([]);
    }
    for (const value of ['never', '2026-01-02', '2026-01-02T03:04:05+01:00', '1767323045']) {
      expect(withDefault(value), value).to.deep.equal([
        'resources.tools.fields.version.default: must be a time as it is served, such as 2026-01-02T03:04:05Z',
      ]);
    }
    expect(withDefault('latest', {})).to.deep.equal([]);
  });

  it('have a cache for what is stored only', () => {
    const { workflows, tools, projects } = parsed({ tools: { cache: { ttlMs: 0 } } }).resources;
    expect(workflows.cache).to.deep.equal({
      ttlMs: 60_000,
      staleWhileRevalidateMs: 300_000,
      staleIfErrorMs: 3_600_000,
    });
    expect(tools.cache).to.deep.equal({ ...workflows.cache, ttlMs: 0 });
    expect(projects).not.to.have.property('cache');
    expect(issues({ resources: { projects: { cache: { ttlMs: 0 } } } })[0]).to.contain(
      'resources.projects.cache: unknown key',
    );
  });

  it('name the documented fields where one is unknown', () => {
    expect(issues({ resources: { projects: { fields: { title: 'x' } } } })[0]).to.equal(
      'resources.projects.fields.title: unknown field; the documented ones are id, name, description, createTime',
    );
  });
});
