import { expect } from 'chai';
import { list, listing, number, object, openApi, parameter, proposedFor, text } from '../proposed.ts';

interface Case {
  readonly parameters?: readonly object[];
  readonly beside?: Readonly<Record<string, object>>;
  readonly headers?: Readonly<Record<string, object>>;
}

function projectsOf({ parameters = [], beside, headers = {} }: Case) {
  const schema = beside === undefined ? list() : object({ data: list(), ...beside });
  const proposed = proposedFor(openApi({ '/projects': listing(schema, { parameters }, headers) }));
  return { ...proposed, resource: proposed.written.resources['projects'] ?? {} };
}

const size = { sizeParam: 'limit', size: 100 };

describe('paging by a document', () => {
  const limit = parameter('limit');
  const [offset, page] = [parameter('offset'), parameter('page')];
  const byOffset = { kind: 'offset', offsetParam: 'offset' };
  const byPage = { kind: 'page', pageParam: 'page' };
  const total = { total: number };
  const from1 = parameter('page', { type: 'integer', default: 1 });
  const cursor = { parameters: [limit, parameter('cursor', text)], beside: { meta: object({ nextCursor: text }) } };
  const links = { _links: object({ next: object({ href: text }) }) };
  const paged = (...parameters: object[]) => ({ parameters: [limit, ...parameters] });
  const most30 = parameter('limit', { maximum: 30 });
  const least1 = parameter('page', { minimum: 1 });
  const cases: readonly (readonly [string, Case, object])[] = [
    ['none, if nothing concerns pages', {}, { kind: 'none' }],
    [
      'by token, if a parameter takes it',
      cursor,
      { kind: 'token', tokenParam: 'cursor', next: 'meta.nextCursor', ...size },
    ],
    [
      ...(['by offset, with a total in the body', { ...paged(offset), beside: { total_count: number } }] as const),
      { ...byOffset, ...size, total: 'total_count' },
    ],
    [
      ...(['by offset, with a total in a header'] as const),
      { ...paged(parameter('skip')), headers: { 'X-Total-Count': {} } },
      { ...byOffset, offsetParam: 'skip', ...size, totalHeader: 'x-total-count' },
    ],
    ['by page, from the documented first page', paged(from1), { ...byPage, firstPage: 1, ...size }],
    ['by the Link header', { ...paged(page), headers: { Link: {} } }, { kind: 'link', ...size }],
    [
      ...(['by page rather than by link, where there is a total'] as const),
      { ...paged(least1), headers: { Link: {}, 'X-Total': {} } },
      { ...byPage, firstPage: 1, ...size, totalHeader: 'x-total' },
    ],
    ['by a link in the body', { ...paged(), beside: links }, { kind: 'link', next: '_links.next.href', ...size }],
    [
      ...(['with no more items a page than the platform allows'] as const),
      { parameters: [most30, offset], beside: total },
      { ...byOffset, sizeParam: 'limit', size: 30, total: 'total' },
    ],
    [
      ...(['without a size where none is documented', { parameters: [offset], beside: total }] as const),
      { ...byOffset, sizeParam: null, total: 'total' },
    ],
  ];
  for (const [name, given, pagination] of cases) {
    it(`is ${name}`, () => {
      expect(projectsOf(given).resource.pagination).to.deep.equal(pagination);
    });
  }

  it('begins with page 1, with a doubt, if a total shows a missing page', () => {
    const { resource, doubts } = projectsOf({ parameters: [parameter('page')], beside: { total: number } });
    expect(resource.pagination).to.deep.include({ firstPage: 1 });
    expect(doubts).to.include('projects: whether pages are counted from 0 or from 1');
  });

  it('is undecided if the first page is unknown and nothing shows a missing page', () => {
    const { resource, doubts } = projectsOf({ parameters: [parameter('page')] });
    expect(resource).to.deep.include({ enabled: false });
    expect(resource.pagination).to.deep.include({ kind: 'page', firstPage: 1 });
    expect(doubts).to.include(
      'projects: whether pages are counted from 0 or from 1; until then the resource is disabled',
    );
  });

  it('is a link with a certain size if only a size is known, so that a full page is an error', () => {
    const { resource, doubts } = projectsOf({ parameters: [parameter('limit')] });
    expect(resource.pagination).to.deep.equal({ kind: 'link', sizeParam: 'limit', size: 10 });
    const known = projectsOf({ parameters: [parameter('limit', { maximum: 30 })] }).resource;
    expect(known.pagination).to.deep.equal({ kind: 'link', sizeParam: 'limit', size: 30 });
    expect(doubts.join()).to.contain('how the platform pages this list');
  });

  for (const [name, given] of [
    ['a token without a parameter', { beside: { nextPageToken: text } }],
    ['an offset that does not begin with 0', { parameters: [parameter('startIndex', { minimum: 1 })] }],
  ] as const) {
    it(`is undecided with ${name}, and the resource is disabled`, () => {
      const { resource, offered, doubts } = projectsOf(given);
      expect(resource.enabled).to.equal(false);
      expect(offered).to.deep.equal([]);
      expect(doubts.join()).to.contain('until then the resource is disabled');
    });
  }
});

const meta = object({ total_count: number, filter_count: number });
const flows = object({ data: list(), meta });

function workflowsOf(paths: Readonly<Record<string, object>>) {
  const proposed = proposedFor(openApi(paths));
  return { ...proposed, resource: proposed.written.resources['workflows'] ?? {} };
}

describe('a list is never taken for one page', () => {
  it('with a total and nothing else: fewer items than the total are an error', () => {
    const { resource, doubts } = workflowsOf({ '/flows': listing(flows) });
    expect(resource.pagination).to.deep.equal({ kind: 'link', sizeParam: null, total: 'meta.filter_count' });
    expect(doubts.join()).to.contain('how the platform pages this list');
  });

  const names = ['limit', 'offset', 'page', 'cursor', 'pageLimitation', 'x-page-cut', 'itemsPerPage', 'maxItems'];
  for (const name of names) {
    it(`with the parameter ${name}`, () => {
      const { resource, doubts } = workflowsOf({ '/flows': listing(list(), { parameters: [parameter(name)] }) });
      expect(resource.pagination?.['kind']).not.to.equal('none');
      if (name !== 'offset') expect(doubts.join()).to.match(/how the platform pages this list|counted from/);
    });
  }
});
