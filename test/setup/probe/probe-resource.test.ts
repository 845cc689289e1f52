import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { json } from '../../support/platform/http-upstream.ts';
import { byOffset, FIELDS, LIST, OFFSET, probedOne, settings, WORKSPACES } from './probed.ts';

describe('a probe of a platform', () => {
  it('reports the request, the pages, and the first item before and after mapping', async () => {
    const report = await probedOne(byOffset, settings(`${OFFSET}, ${FIELDS}`));
    expect(report).to.deep.include({
      ...{ resource: 'projects', uri: 'platform://projects', upstream: 'acme', ok: true, pages: 3, items: 60 },
      ...{ excluded: 0, dropped: 0, signs: ['data.count: 60'], emptyFields: ['description'] },
      warnings: [{ finding: 'field_empty', field: 'description', text: 'description is empty in every item' }],
    });
    expect(report.response).to.deep.include({ status: 200, contentType: 'application/json' });
    expect(report.response?.ms).to.be.greaterThan(0).and.at.most(report.ms);
  });

  it('shows what was posted, but for what settings mask', async () => {
    const body = 'body: { q: all, from: "${FROM}", filter: { apiKey: hush, kinds: [open, 5] }, page: { after: null } }';
    const paged = 'pagination: { kind: token, sizeParam: null, tokenParam: /page/after }';
    const yaml = settings(`method: POST, retryPost: true, ${body}, items: list, ${paged}`);
    const report = await probedOne(json({ list: [{ id: 'a', name: 'A' }] }), yaml, { FROM: 'hidden' });
    expect(report).to.include({ ok: true, items: 1 });
    expect(report.request?.method).to.equal('POST');
    expect(JSON.parse(report.request?.body ?? '')).to.deep.equal({
      q: 'all',
      from: '[masked]',
      filter: { apiKey: '[masked]', kinds: ['open', 5] },
      page: {},
    });
  });

  it('shows an item that cannot be mapped, and why', async () => {
    const why = 'field createTime of item 0 is not a timestamp';
    const fields = 'fields: { id: wid, name: title, createTime: title }';
    const report = await probedOne(byOffset, settings(`${OFFSET}, ${fields}`));
    expect(report.ok).to.equal(false);
    expect(report.error).to.deep.include({ code: 'upstream_invalid', reason: why });
    expect(report.first).to.deep.equal({ raw: WORKSPACES[0] });
  });

  it('shows a page of the list, and not that of its parents', async () => {
    const groups = json([{ id: 'g', name: 'Group' }]);
    const platform: RequestListener = (request, response) =>
      (request.url === '/v2/groups' ? groups : byOffset)(request, response);
    const parents = 'each: { path: /groups, pagination: { kind: none } }';
    const yaml = settings(`${OFFSET}, ${FIELDS}, ${parents}`).replace('/workspaces', "'/groups/{parent.id}/list'");
    const report = await probedOne(platform, yaml);
    expect(report).to.deep.include({ ok: true, items: 60, signs: ['data.count: 60'], notTried: [] });
    expect(report).to.include({ maxPages: 10_000, maxParents: 500 });
    expect(report.request?.url).to.contain('/groups/g/list?');
    expect(report.first?.raw).to.deep.equal(WORKSPACES[0]);
  });

  it('shows a page of the list behind many pages of its parents', async () => {
    const group = (page: number) => (page <= 5 ? [{ id: `g${page}`, name: 'Group' }] : []);
    const platform: RequestListener = (request, response) => {
      const list = json({ list: [{ id: `of ${request.url}`, name: 'A' }] });
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://a.example');
      (pathname === '/v2/groups' ? json(group(Number(searchParams.get('page') ?? 1))) : list)(request, response);
    };
    const parents = 'each: { path: /groups, pagination: { kind: page, sizeParam: null } }';
    const yaml = settings(`${LIST}, ${parents}`).replace('/workspaces', "'/groups/{parent.id}/list'");
    const report = await probedOne(platform, yaml);
    expect(report).to.include({ ok: true, items: 5 });
    expect(report.first?.raw).to.have.property('id', 'of /v2/groups/g1/list');
  });

  it('reports the signs of more items', async () => {
    const body = { list: [{ id: 'a', name: 'A' }], meta: { total: 7, has_more: true, is_last: true } };
    const report = await probedOne(json(body, 200, { link: '</x>; rel="next"' }), settings(LIST));
    expect(report.error?.reason).to.contain('total is 7; items received: 1');
    expect(report.signs).to.deep.equal([
      'meta.total: 7',
      'meta.has_more: more items',
      'meta.is_last: no more items',
      'the header Link: rel=next: more items',
    ]);
  });

  it('counts items that are dropped, and shows the first that is not', async () => {
    const list = [{ id: 'a' }, { id: 'b', name: 'B' }];
    const yaml = settings(`${LIST}, invalidItems: drop`);
    const report = await probedOne(json({ list }), yaml);
    expect(report).to.deep.include({ ok: true, items: 1, dropped: 1 });
    expect(report.first?.raw).to.deep.equal(list[1]);
  });

  for (const [kind, sent] of [
    ['kind: none', undefined],
    ['kind: service, secret: hush-hush', 'Bearer [credential]'],
    ['kind: service, secret: hush-hush, user: portico', 'Basic [credential]'],
  ] as const) {
    it(`needs none where no platform is given one: ${kind}`, async () => {
      const yaml = settings(LIST, `, credential: { ${kind} }`);
      const list = [{ id: 'a', name: 'A' }];
      const report = await probedOne(json({ list }), `allowUnverifiedCallers: true\n${yaml}`, { PORTICO_TOKEN: '' });
      expect(report.ok).to.equal(true);
      expect(report.request?.headers['authorization']).to.equal(sent);
    });
  }
});
