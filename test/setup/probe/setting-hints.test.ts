import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { json } from '../../support/platform/http-upstream.ts';
import { pagedPlatform } from '../../support/platform/paged-platform.ts';
import { byOffset, FIELDS, LIST, probedOne, settings } from './probed.ts';

const PROJECTS = Array.from({ length: 120 }, (_, index) => ({ id: `p-${index}`, name: `P ${index}` }));

/** A search that is posted for, in pages of 25 from `find.start` on. */
const search: RequestListener = async (request, response) => {
  const { find, 'find/~': other } = JSON.parse((await text(request)) || '{}') as Record<string, { start?: number }>;
  const start = (find ?? other)?.start ?? 0;
  json({ list: PROJECTS.slice(start, start + 25), total: PROJECTS.length })(request, response);
};

describe('a probe suggests', () => {
  it('where the list seems to be', async () => {
    const report = await probedOne(byOffset, settings(`items: workspaces, pagination: { kind: none }, ${FIELDS}`));
    expect(report.error?.reason).to.equal('the page has no list of items at the configured place');
    const why = 'there are 25 items with wid, title, about, at';
    expect(report.suggestions).to.deep.equal([{ setting: 'resources.projects.items', value: 'data.list', why }]);
  });

  it('where the list seems to be if another one is empty', async () => {
    const body = { items: [], data: { projects: [{ id: 'a', name: 'A' }] } };
    const report = await probedOne(json(body), settings('items: items, pagination: { kind: none }'));
    expect(report.suggestions).to.deep.equal([
      { setting: 'resources.projects.items', value: 'data.projects', why: 'there is 1 item with id, name' },
    ]);
  });

  it('a way of paging with which the whole list is read', async () => {
    const handler = pagedPlatform('link in body', PROJECTS);
    const { suggestions } = await probedOne(handler, settings('items: data.list, pagination: { kind: none }'));
    const [{ setting, value } = {}] = suggestions;
    expect(setting).to.equal('resources.projects.pagination');
    const again = await probedOne(handler, settings(`items: data.list, pagination: ${value}`));
    expect(again).to.deep.include({ ok: true, items: 120, pages: 5 });
  });

  it('no parameter that the platform ignores', async () => {
    const handler = json({ list: PROJECTS.slice(0, 25), total: PROJECTS.length, offset: 0 });
    const report = await probedOne(handler, settings(LIST));
    expect(report).to.deep.include({ ok: false, suggestions: [] });
  });

  it('expressions of fields, and no paging, after a mapping error', async () => {
    const fields = 'fields: { id: nowhere }';
    const handler = pagedPlatform('offset', PROJECTS);
    const report = await probedOne(handler, settings(`items: data.list, pagination: { kind: none }, ${fields}`));
    expect(report.suggestions.map(({ setting, value }) => [setting, value])).to.deep.equal([
      ['resources.projects.fields', '{ id: id, name: name }'],
    ]);
  });

  it('the usual parameter that leads to another page, if a total is the only sign', async () => {
    const handler = pagedPlatform('page', PROJECTS);
    const { suggestions } = await probedOne(handler, settings('items: data.list, pagination: { kind: none }'));
    expect(suggestions.map(({ value }) => value)).to.deep.equal([
      '{ kind: page, pageParam: page, firstPage: 1, sizeParam: null, totalHeader: x-total }',
    ]);
  });

  it('no query parameter for a POST without places for a page', async () => {
    for (const body of [', body: { find: { like: null } }', '']) {
      const yaml = settings(`method: POST, retryPost: true${body}, ${LIST}`);
      const { suggestions, signs } = await probedOne(search, yaml);
      expect(suggestions).to.deep.equal([]);
      expect(signs).to.deep.equal(['total is 120']);
    }
  });
});
