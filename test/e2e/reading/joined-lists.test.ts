import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { parse } from 'yaml';
import { ConfigError, createGateway } from '../../../src/gateway.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';

const WORKFLOWS: Readonly<Record<string, readonly object[]>> = {
  p1: [
    { id: 'scan', name: 'Scan' },
    { id: 'patch', name: 'Patch' },
  ],
  p2: [],
  p3: [{ id: 'scan', name: 'Scan' }],
};
const PROJECTS = Object.keys(WORKFLOWS).map((key) => ({ key, title: key.toUpperCase(), owner: { login: `o/${key}` } }));

/** Projects in pages of two, and the workflows of each. */
const platform: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://platform');
  const offset = Number(searchParams.get('offset') ?? 0);
  const ofProject = WORKFLOWS[/^\/(?:projects|o%2Fp\d)\/(p\d)\/workflows$/.exec(pathname)?.[1] ?? ''];
  if (pathname === '/projects') json({ projects: PROJECTS.slice(offset, offset + 2), total: 3 })(request, response);
  else if (ofProject === undefined) json({}, 404)(request, response);
  else json({ workflows: ofProject, total: ofProject.length })(request, response);
};

const PAGED = '{ kind: offset, sizeParam: null, size: 2, total: total }';
const BELOW = 'query: {}, items: workflows, pagination: { kind: none, total: total }';
const OWN = `{ path: /projects, items: projects, pagination: ${PAGED}, id: key }`;
const NESTED = "path: '/projects/{parent.key}/workflows'";
const BELOW_OWN = `each: ${OWN}, ${NESTED}`;
const PROJECTS_OFF = `{ enabled: false, upstream: p, path: /projects, items: projects, pagination: ${PAGED}, fields: { id: key, name: title } }`;

const settingsOf = (workflows: string, projects = '{ enabled: false }', timeoutMs = 5000) =>
  `upstreams: { p: { baseUrl: BASE, timeoutMs: ${timeoutMs} } }
resources: { projects: ${projects}, tools: { enabled: false }, workflows: { upstream: p, ${workflows} } }`;

/** A list, or a problem. */
type Body = { readonly id: string }[] & { readonly code?: string };

async function read(yaml: string, handler = platform) {
  const upstream = await startHttpUpstream(handler);
  const { read: readResource } = await startGateway(parse(yaml.replaceAll('BASE', upstream.url)));
  const response = await readResource('workflows');
  return {
    status: response.status,
    body: (await response.json()) as Body,
    requests: upstream.requests.map(({ url }) => url),
  };
}

/** The platform, but for requests for which this has another answer. */
const unless =
  (answer: (url: string, query: URLSearchParams) => RequestListener | undefined): RequestListener =>
  (request, response) => {
    const { url = '' } = request;
    const { searchParams } = new URL(url, 'http://platform');
    return (answer(url, searchParams) ?? platform)(request, response);
  };

/** The platform, where the workflows of a project are found by a query. */
const byQuery = (of: (project: string) => object) =>
  unless((url, query) => (url.startsWith('/workflows') ? json(of(query.get('project') ?? '')) : undefined));

const idsOf = (body: readonly { id: string }[]) => body.map(({ id }) => id);

describe('a list below parents', () => {
  it('is read for each item of another resource, and joins ids that several parents have', async () => {
    const fields = `fields: { description: "join(' of ', [name, parent.name])" }`;
    const below = `each: projects, path: '/projects/{parent.id}/workflows', ${BELOW}`;
    const yaml = settingsOf(`${below}, ${fields}`, PROJECTS_OFF);
    const { status, body, requests } = await read(yaml);
    expect(status).to.equal(200);
    expect(idsOf(body)).to.deep.equal(['p1/scan', 'patch', 'p3/scan']);
    expect(body[1]).to.deep.include({ name: 'Patch', description: 'Patch of P1' });
    expect(requests).to.have.length(2 + 3);
  });

  it('is read for each item of a list of its own, whose members are encoded in the path', async () => {
    const yaml = settingsOf(`each: ${OWN}, path: '/{parent.owner.login}/{parent.key}/workflows', ${BELOW}`);
    const { body, requests } = await read(yaml);
    expect(idsOf(body)).to.deep.equal(['p1/scan', 'patch', 'p3/scan']);
    expect(requests).to.include('/o%2Fp1/p1/workflows');
  });

  it('may be one whose query names the parent', async () => {
    const named = byQuery((project) => ({ workflows: WORKFLOWS[project.replace('o/', '')] ?? [] }));
    const query = "query: { project: '{parent.owner.login}', all: [a, b] }";
    const yaml = settingsOf(`each: ${OWN}, path: /workflows, ${query}, items: workflows, pagination: { kind: none }`);
    const { body, requests } = await read(yaml, named);
    expect(idsOf(body)).to.deep.equal(['p1/scan', 'patch', 'p3/scan']);
    expect(requests).to.include('/workflows?project=o%2Fp1&all=a&all=b');
  });

  it('is an error if it is the same below every parent, and below one that does not exist', async () => {
    const all = { workflows: WORKFLOWS['p1'], total: 2 };
    const same = byQuery(() => all);
    const below = BELOW.replace('{}', "{ project: '{parent.key}' }");
    const yaml = `${settingsOf(`each: ${OWN}, path: /workflows, ${below}`)}\nconfirmation: { enabled: true }`;
    const { body, requests } = await read(yaml, same);
    expect(body).to.include({ code: 'upstream_invalid' });
    expect(body).to.have.property('detail').that.contains('resources.workflows.query that names the parent');
    expect(requests.at(-1)).to.equal('/workflows?project=portico-probe');
    const allowed = await read(yaml.replace('each:', 'duplicateIds: allow, each:'), same);
    expect(allowed.body).to.have.length(6);
    for (const none of [{ workflows: [], total: 0 }, { error: 'no such project' }]) {
      const honest = byQuery((project) => (/^p\d$/.test(project) ? all : none));
      expect((await read(yaml, honest)).body).to.have.length(6);
    }
    const one = settingsOf(`${BELOW_OWN}, ${BELOW}`);
    expect((await read(one)).requests.join()).not.to.contain('portico-probe');
  });

  it('is an error if a parent of a list of its own is there twice, although ids of its lists may repeat', async () => {
    const projects = [...PROJECTS, { ...PROJECTS[0], seen: 2 }];
    const twice = unless((url) => (url === '/projects' ? json({ projects }) : undefined));
    const yaml = settingsOf(`duplicateIds: allow, ${BELOW_OWN.replace(PAGED, '{ kind: none }')}, ${BELOW}`);
    expect((await read(yaml, twice)).body).to.include({ code: 'upstream_invalid' });
  });

  it('is an error if a parent has no id, or reports it as dropped if the resource of the parents drops it', async () => {
    const some = json({ projects: [...PROJECTS.slice(0, 1), { title: 'No key' }], total: 2 });
    const nameless = unless((url) => (/^\/projects(\?|$)/.test(url) ? some : undefined));
    const own = settingsOf(`${BELOW_OWN}, invalidItems: drop, ${BELOW}`);
    expect((await read(own, nameless)).body.code).to.equal('upstream_invalid');
    const named = `each: projects, path: '/projects/{parent.id}/workflows', ${BELOW}`;
    const upstream = await startHttpUpstream(nameless);
    const { logger, lines } = captureLog();
    const dropping = PROJECTS_OFF.replace('enabled: false', 'enabled: false, invalidItems: drop');
    const yaml = settingsOf(named, dropping).replaceAll('BASE', upstream.url);
    const { read: readResource } = await startGateway(parse(yaml), { logger });
    expect((await readResource('workflows')).status).to.equal(200);
    const warned = lines().filter(({ msg }) => msg === 'items dropped');
    expect(warned.map(({ resource, dropped }) => [resource, dropped])).to.deep.equal([['workflows', 1]]);
  });

  it('is an error if ids are equal once they are joined with those of parents', async () => {
    let lists: Readonly<Record<string, readonly string[]>> = { a: ['b/c', 'd'], 'a/b': ['c', 'd'], e: ['b/c', 'c'] };
    const nested: RequestListener = (request, response) => {
      const [, , parent = ''] = (request.url ?? '').split('/');
      const ids = lists[decodeURIComponent(parent)] ?? Object.keys(lists);
      const items = ids.map((id) => ({ id, key: id, name: id }));
      json({ workflows: items, projects: items, total: items.length })(request, response);
    };
    const own = '{ path: /projects, items: projects, pagination: { kind: none } }';
    const yaml = settingsOf(`each: ${own}, path: '/projects/{parent.id}/workflows', ${BELOW}`);
    expect((await read(yaml, nested)).body.code).to.equal('upstream_invalid');
    const allowed = await read(yaml.replace('each:', 'duplicateIds: allow, each:'), nested);
    expect(idsOf(allowed.body)).to.deep.equal(['a/b/c', 'a/d', 'a/b/c', 'a/b/d', 'e/b/c', 'e/c']);
    lists = { a: ['d', 'a/d'], e: ['d'] };
    expect((await read(yaml, nested)).body.code, 'in one list').to.equal('upstream_invalid');
  });

  for (const [what, part, answer, reason] of [
    ['one of them fails', 'p2', json({}, 500), 'upstream_failed'],
    ['one of them is refused', 'p3', json({}, 403), 'access_denied'],
    ['one of them is short', 'p1/', json({ workflows: [], total: 2 }), 'upstream_invalid'],
    [
      'a parent has no text for the path',
      ...(['/projects?', json({ projects: [{ key: '..' }], total: 1 }), 'upstream_invalid'] as const),
    ],
  ] as const) {
    it(`is an error if ${what}`, async () => {
      const wrong = unless((url) => (url.includes(part) ? answer : undefined));
      expect((await read(settingsOf(`${BELOW_OWN}, ${BELOW}`), wrong)).body.code).to.equal(reason);
    });
  }

  it('is an error if items is wrong, or where leaves nothing of any parent, but not if it leaves nothing of one', async () => {
    const below = (rest: string) => settingsOf(`${BELOW_OWN}, ${rest}`);
    const where = (text: string) => below(`${BELOW}, where: ${text}`);
    const wrong = BELOW.replace('items: workflows', 'items: flows');
    expect((await read(below(wrong))).body.code).to.equal('upstream_invalid');
    expect((await read(where('absent'))).body.code).to.equal('upstream_invalid');
    expect((await read(where('absent, allowEmpty: true'))).body).to.deep.equal([]);
    expect(idsOf((await read(where('"name == \'Patch\'"'))).body)).to.deep.equal(['patch']);
  });

  it('may be absent for one parent if settings say so, but the list of the parents may not', async () => {
    const below = (own: string) => settingsOf(`each: ${own}, ${NESTED}, notFound: empty, ${BELOW}`);
    const absent = unless((url) => (url.includes('p1/') ? json({}, 404) : undefined));
    expect(idsOf((await read(below(OWN), absent)).body)).to.deep.equal(['scan']);
    expect((await read(below(OWN.replace('/projects', '/gone')))).body.code).to.equal('upstream_refused');
  });

  it('takes time in proportion to its length, whatever its numbers and its parents are', async () => {
    const workflows = Array.from({ length: 50_000 }, (_, id) => `{"id":${id},"name":"n","score":1.0}`).join();
    const large: RequestListener = (request, response) => {
      const { url = '' } = request;
      if (url.includes('offset=0')) response.end(`{"workflows":[${workflows}]}`);
      else if (url.includes('workflows')) json({ workflows: [] })(request, response);
      else json({ projects: [{ key: 'p', text: 'x'.repeat(60_000) }] })(request, response);
    };
    const own = '{ path: /projects, items: projects, pagination: { kind: none }, id: key }';
    const paged = 'query: {}, items: workflows, pagination: { kind: offset, sizeParam: null }';
    const below = `each: ${own}, path: '/{parent.key}/workflows', where: "id != \`7\`"`;
    const yaml = settingsOf(`${below}, ${paged}`, undefined, 30_000);
    expect((await read(yaml, large)).body).to.have.length(49_999);
  });

  it('has one deadline for all lists', async () => {
    const yaml = settingsOf(`${BELOW_OWN}, ${BELOW}`, undefined, 1000);
    const slow: RequestListener = (request, response) => void setTimeout(() => platform(request, response), 450);
    // Two pages of parents take 900 ms.
    expect((await read(yaml, slow)).body.code).to.equal('upstream_timeout');
  });
});

describe('a resource of several lists', () => {
  const lists = 'lists: [{ path: /projects/p1/workflows }, { path: /projects/p3/workflows }]';

  it('has the items of all, in their order', async () => {
    const two = 'lists: [{ path: /projects/p1/workflows }, { path: /projects/p2/workflows }]';
    const { body } = await read(settingsOf(`${two}, ${BELOW}`));
    expect(idsOf(body)).to.deep.equal(['scan', 'patch']);
  });

  it('is an error if one of them is no list at its place, or where leaves nothing of it', async () => {
    for (const wrong of ['items: flows', 'where: absent']) {
      const yaml = `lists: [{ path: /projects/p1/workflows }, { path: /projects/p3/workflows, ${wrong} }], ${BELOW}`;
      expect((await read(settingsOf(yaml))).body.code, wrong).to.equal('upstream_invalid');
    }
  });

  it('is an error if all together are larger than maxReadBytes', async () => {
    const long: RequestListener = (request, response) =>
      json({ workflows: [{ id: request.url, name: 'n'.repeat(700) }], total: 1 })(request, response);
    const read1024 = (all: string) => read(settingsOf(`${all}, ${BELOW}, maxReadBytes: 1024`), long);
    expect((await read1024('lists: [{ path: /projects/p1/workflows }]')).status).to.equal(200);
    expect((await read1024(lists)).body.code).to.equal('upstream_invalid');
  });

  it('is an error if an id is in two of them, unless settings allow it', async () => {
    expect((await read(settingsOf(`${lists}, ${BELOW}`))).body.code).to.equal('upstream_invalid');
    const { body } = await read(settingsOf(`${lists}, duplicateIds: allow, ${BELOW}`));
    expect(idsOf(body)).to.deep.equal(['scan', 'patch', 'scan']);
  });
});

describe('settings of joined lists', () => {
  const PLATFORM = 'http://127.0.0.1:9';

  for (const [what, workflows, projects, issue] of [
    ['a path without its parent', `each: ${OWN}, path: /w`, undefined, 'must have {parent.NAME}'],
    ['a parent without each', "path: '/{parent.id}/w'", undefined, 'there is no each'],
    [
      'itself as parent',
      "each: workflows, path: '/{parent.id}/w'",
      undefined,
      'must be another resource: projects, tools',
    ],
    [
      'a parent of another upstream',
      "each: projects, path: '/{parent.id}/w'",
      '{ upstream: q }',
      'has another upstream',
    ],
    [
      'a parent of several lists',
      "each: projects, path: '/{parent.id}/w'",
      '{ enabled: false, upstream: p, lists: [{ path: /a }, { path: /b }] }',
      'names projects, which consists of several lists',
    ],
    [
      'a path beside lists, which is not read',
      'path: /w, lists: [{ path: /x }]',
      undefined,
      'is not read where there are lists',
    ],
    [
      'a parent in a body',
      `each: ${OWN}, path: '/{parent.id}/w', method: POST, body: { a: ['{parent.id}'] }`,
      undefined,
      'replaced in path and query only',
    ],
  ] as const) {
    it(`refuse ${what}`, () => {
      const { upstreams, ...settings } = parse(settingsOf(workflows, projects).replace('BASE', PLATFORM));
      const other = projects?.includes('q') && { q: { baseUrl: PLATFORM } };
      const open = () => createGateway({ ...settings, upstreams: { ...upstreams, ...other } });
      expect(open).to.throw(ConfigError, issue);
    });
  }
});
