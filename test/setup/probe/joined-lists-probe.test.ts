import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { PROBE } from '../../../src/setup/input-bounds.ts';
import { json } from '../../support/platform/http-upstream.ts';
import { probed, probedOne, TOKEN } from './probed.ts';

const GROUPS = ['a', 'b/b', 'c'].map((id) => ({ id, name: id.toUpperCase() }));

/** The flows of a group, of which the second has most. */
const flowsOf = (group: string | null) => {
  const length = GROUPS.findIndex(({ id }) => id === group) === 1 ? 7 : 3;
  return Array.from({ length }, (_, index) => ({ id: `${group}-${index}`, name: 'F', live: index % 2 === 0 }));
};

/** How the platform departs from its documentation: a parameter that it does not read, on a path. */
interface Flaw {
  readonly path?: string;
  readonly ignores?: string;
  readonly isPublic?: boolean;
}

/** Groups, and the flows of each below its path and by a query, all by `offset` and `limit`, and filtered by `live`. */
const acme =
  ({ path = '', ignores = '', isPublic = false }: Flaw = {}): RequestListener =>
  (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://a.example');
    const isFlawed = pathname.includes(path);
    if (!(isPublic && isFlawed) && request.headers.authorization !== `Bearer ${TOKEN}`)
      return json({ error: 'who?' }, 401)(request, response);
    if (isFlawed) query.delete(ignores);
    const [, , group] = /^\/v2\/(groups|teams)\/([^/]+)\/flows$/.exec(pathname) ?? [];
    const all = pathname === '/v2/groups' ? GROUPS : flowsOf(group ? decodeURIComponent(group) : query.get('group'));
    const items = query.has('live') ? all.filter((item) => String(Object(item).live) === query.get('live')) : all;
    const offset = Number(query.get('offset') ?? 0);
    const limit = Math.min(100, Number(query.get('limit') ?? 100));
    if (/gone/.test(pathname)) return json({}, 404)(request, response);
    return json({ list: items.slice(offset, offset + limit), total: items.length })(request, response);
  };

const PAGED = 'pagination: { kind: offset, total: total }';
const OWN = `each: { path: /groups, items: list, ${PAGED} }`;
const BELOW = `path: '/groups/{parent.id}/flows', query: {}, items: list, ${PAGED}`;
const BY_QUERY = BELOW.replace("'/groups/{parent.id}/flows'", '/flows').replace('{}', "{ group: '{parent.id}' }");
const LISTS = `query: {}, items: list, ${PAGED}, lists: [{ path: /groups/a/flows }, { path: /teams/c/flows, query: { live: true } }]`;

const settings = (workflows: string, projects = '{ enabled: false }') =>
  `upstreams: { acme: { baseUrl: BASE/v2 } }
resources:
  projects: ${projects}
  workflows: { upstream: acme, ${workflows} }
  tools: { enabled: false }
`;
const found = (report: Awaited<ReturnType<typeof probedOne>>) =>
  report.warnings.flatMap((warning) => ('setting' in warning ? [[warning.finding, warning.setting]] : []));

describe('experiments of a probe on joined lists', () => {
  for (const [what, yaml, lists] of [
    ['below parents', `${OWN}, ${BELOW}`, 2],
    ['below parents that the query names', `${OWN}, ${BY_QUERY}`, 2],
    ['of several paths', LISTS, 2],
  ] as const) {
    it(`find nothing in lists ${what} that are whole, and pass with strict`, async () => {
      const { ok, resources } = await probed(acme(), settings(yaml), {}, { strict: true });
      const [report] = resources;
      expect([report?.warnings.filter((each) => 'setting' in each), report?.notTried]).to.deep.equal([[], []]);
      expect(ok).to.equal(true);
      expect(report?.extraRequests)
        .to.be.greaterThan(4)
        .and.at.most(lists * PROBE.requests);
    });
  }

  const flawed: readonly (readonly [string, Flaw, string, ...string[]])[] = [
    ['the page size of the list', { path: '/flows', ignores: 'limit' }, `${OWN}, ${BELOW}`, 'pagination.sizeParam'],
    [
      'the page size of parents',
      { path: '/groups', ignores: 'limit' },
      `${OWN}, ${BELOW.replace('limit', 'x')}`,
      ...['each.pagination.sizeParam', 'pagination.sizeParam'],
    ],
    ['an entry of the query of one of several lists', { path: '/teams', ignores: 'live' }, LISTS, 'lists.1.query.live'],
    ['the page size that several lists share', { path: '/flows', ignores: 'limit' }, LISTS, 'pagination.sizeParam'],
  ];
  for (const [what, flaw, yaml, ...keys] of flawed) {
    it(`find that the platform ignores ${what}`, async () => {
      const report = await probedOne(acme(flaw), settings(yaml));
      const findings = keys.map((key) => ['parameter_ignored', `resources.workflows.${key}`]);
      expect(found(report)).to.have.deep.members(findings);
    });
  }

  it('find one list that a made-up token can read, and say which', async () => {
    const report = await probedOne(acme({ path: '/teams', isPublic: true }), settings(LISTS));
    expect(found(report)).to.deep.equal([['public_list', 'upstreams.acme.credential']]);
    expect(report.warnings.at(-1)?.text).to.contain('(in lists.1)');
  });

  it('find lists that are the same below every parent, which fails with strict where ids may repeat', async () => {
    const flaw = { path: '/flows', ignores: 'group' };
    const read = await probedOne(acme(flaw), settings(`${OWN}, ${BY_QUERY}`));
    expect(read.error?.reason).to.match(/^every parent has the same list/);
    expect(read.error?.reason).to.contain('resources.workflows.path');
    const yaml = settings(`${OWN}, ${BY_QUERY}, duplicateIds: allow`);
    const { ok, resources } = await probed(acme(flaw), yaml, {}, { strict: true });
    expect(resources.map(found)).to.deep.equal([[['parameter_ignored', 'resources.workflows.query.group']]]);
    expect(ok).to.equal(false);
  });

  it('try the list of parents that are not offered, at its own keys, and no other twice', async () => {
    const projects = (enabled: boolean) =>
      `{ enabled: ${enabled}, upstream: acme, path: /groups, query: {}, items: list, pagination: { kind: offset, sizeParam: size, size: 2, total: total } }`;
    const yaml = (enabled: boolean) => settings(`each: projects, ${BELOW}`, projects(enabled));
    const found2 = async (enabled: boolean) => (await probed(acme(), yaml(enabled))).resources.map(found);
    const ignored = ['parameter_ignored', 'resources.projects.pagination.sizeParam'];
    expect(await found2(false)).to.deep.equal([[ignored]]);
    expect(await found2(true)).to.deep.equal([[ignored], []]);
  });

  const wrong: readonly (readonly [yaml: string, list: string])[] = [
    [`${OWN.replace('/groups', '/gone/x')}, ${BELOW}`, 'each'],
    [`${OWN.replace('/groups,', '/groups, id: name.x,')}, ${BELOW}`, 'each'],
    [LISTS.replace('flows, query', 'flows, items: flows, query'), 'lists.1'],
    [LISTS.replace('flows }', 'gone }'), 'lists.0'],
  ];
  for (const [yaml, list] of wrong) {
    it(`name the list that could not be read: ${yaml.slice(0, 60)}`, async () => {
      const { ok, error } = await probedOne(acme(), settings(yaml));
      expect(ok).to.equal(false);
      expect(error?.reason).to.match(new RegExp(` \\(in ${list}\\)$`));
    });
  }
});
