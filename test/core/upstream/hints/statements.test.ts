import { expect } from 'chai';
import { SLICES } from '../../../../src/composition.ts';
import { RESOURCES } from '../../../../src/core/resources/index.ts';
import { headerStatements, type Statement, statementsOf } from '../../../../src/core/upstream/hints/statements.ts';
import { SIGNS } from '../../../../src/core/upstream/hints/words.ts';
import { settingsJsonSchema } from '../../../../src/setup/json-schema.ts';

const statements = (body: object, headers: Record<string, string> = {}) =>
  statementsOf([{ fields: [], value: body }], headers);

const one = (body: object): Statement | undefined => {
  const [statement, ...others] = statements(body);
  expect(others).to.deep.equal([]);
  return statement;
};

describe('the signs of more items in a body', () => {
  it('is a total, wherever it is', () => {
    for (const [path, body] of Object.entries({
      total: { total: 120 },
      '"total-results"': { 'total-results': 120 },
      'meta.pagination.total': { meta: { pagination: { total: 120 } } },
      'response_metadata.total': { response_metadata: { total: 120 } },
      'details.totalResult': { details: { totalResult: '120', processedSequence: '7' } },
      '"@odata.count"': { '@odata.count': 120 },
      ...Object.fromEntries(
        ['totalMatched', 'total_found', 'approximateTotal', 'total_estimate'].map((name) => [name, { [name]: 120 }]),
      ),
      'meta."total-count"': { meta: { 'total-count': '120' } },
    })) {
      expect(one(body)).to.deep.include({ sign: 'total', path, stated: 120 });
    }
  });

  it('is a total as text however many digits it has, and none where the text is no number', () => {
    for (const text of ['120', ' 120 ', '+120', '120.0', '000000000000000000120'])
      expect(one({ total: text }), text).to.include({ sign: 'total', stated: 120 });
    expect(one({ total: '9'.repeat(20) })).to.include({ stated: 1e20 });
    for (const text of ['', '-1', '1 2', '0x10', '9'.repeat(41)]) expect(statements({ total: text })).to.deep.equal([]);
  });

  it('is a total of Elasticsearch, and more than that where it is a lower bound', () => {
    expect(one({ total: { value: 120, relation: 'eq' } })).to.include({ path: 'total.value', stated: 120 });
    expect(one({ total: { value: 10_000, relation: 'gte' } })).to.include({ path: 'total.value', stated: 10_001 });
    expect(statements({ total: { sum: 5 } })).to.deep.equal([]);
    expect(statements({ total: null })).to.deep.equal([]);
  });

  it('is a flag for more, or for the end, in any form of yes and no', () => {
    for (const [body, stated] of [
      [{ pageInfo: { hasNextPage: true } }, true],
      [{ has_more: false }, false],
      [{ has_more: 'FALSE' }, false],
      [{ has_more: 1 }, true],
      [{ more_rows: 'Y' }, true],
      [{ has_more_entries: 'no' }, false],
      [{ last: false }, true],
      [{ isLast: true }, false],
      [{ done: false }, true],
      [{ exhausted: false }, true],
      [{ list_complete: false }, true],
      [{ exceededTransferLimit: true }, true],
      [{ maxResultsReached: true }, true],
      [{ hit_limit: true }, true],
      [{ tooManyResults: true }, true],
      [{ resultSetTruncated: true }, true],
      [{ end: false }, true],
      [{ remaining_count: 4 }, true],
      [{ itemsRemaining: '4' }, true],
      [{ pages_left: 0 }, false],
      [{ metadata: { remainingItemCount: 7 } }, true],
      [{ metadata: { remainingItemCount: 0 } }, false],
    ] as const) {
      expect(one(body), JSON.stringify(body)).to.include({ sign: 'more', stated });
    }
  });

  const [self, next] = ['self', 'next'].map((rel) => ({ rel, href: '/n' }));
  it('is a way to the next page, or that there is none', () => {
    for (const [body, stated] of [
      [{ links: { next: '/list?page=2' } }, true],
      [{ _links: { next: { href: '/list?page=2' } } }, true],
      [{ _links: { next: [{ href: '/list?page=2' }] } }, true],
      [{ links: [self, next] }, true],
      [{ servers_links: [self, next] }, true],
      [{ pages: { nextKey: 'x', size: 50 } }, true],
      [{ nextPage: 2 }, true],
      [{ nav: { next_bookmark: 'abc' } }, true],
      [{ LastEvaluatedKey: { id: { S: 'x' } } }, true],
      [{ next: true }, true],
      [{ next: ['2026-01-01', 17] }, true],
      [{ offset: 'itrX9/recY7' }, true],
      [{ cursor: 'itrX9/recY7' }, true],
      [{ meta: { cursors: { before: null, after: 'x' } } }, true],
      [{ moreUrl: '/list?page=2' }, true],
      [{ next: [] }, false],
      [{ next: null }, false],
      [{ next: ' ' }, false],
      [{ next_cursor: 0 }, false],
      [{ next_cursor: -1 }, false],
      [{ next_cursor: '0' }, false],
      [{ next: {} }, false],
      [{ next: { href: null } }, false],
    ] as const) {
      expect(one(body), JSON.stringify(body)).to.include({ sign: 'next', stated });
    }
  });

  it('is a number of pages, or a way back', () => {
    expect(one({ total_pages: 5 })).to.include({ sign: 'pages', stated: 5 });
    expect(one({ last_page: 5 })).to.include({ sign: 'pages', stated: 5 });
    expect(one({ prev: '/list?page=1' })).to.include({ sign: 'previous', stated: true });
    expect(one({ links: [{ rel: 'prev', href: '/' }] })).to.include({ sign: 'previous', stated: true });
    expect(one({ has_previous: false })).to.include({ sign: 'previous', stated: false });
  });

  it('is nothing where a member is of another type or name, or is in one that is not about the list', () => {
    const body = {
      total: 'many',
      count: true,
      pages: [{ next: 'x' }],
      last: 'https://platform.example/last',
      has_more: {},
      status: 'ok',
      account: { total: 500 },
      links: [null, 5, { rel: 'self' }],
      meta: null,
      page: 1,
      [`next${'_'.repeat(60)}`]: 'x',
      meta_: { meta: { meta: { meta: { meta: { total: 5 } } } } },
    };
    expect(statements(body)).to.deep.equal([]);
  });

  it('is found beside the list, in each object and in each element of a list that leads to it', () => {
    const data = { total: 3, workflows: [] };
    const enclosing = [
      { fields: [], value: { data, has_more: true } },
      { fields: ['da-ta'], value: data },
      { fields: ['results', 0], value: { total: 120 } },
    ];
    const paths = statementsOf(enclosing, {}).map(({ path }) => path);
    expect(paths).to.deep.equal(['has_more', '"da-ta".total', 'results[0].total']);
  });
});

describe('the names of signs', () => {
  const THINGS = ['items', 'results', 'Records', 'entries', 'hits', 'rows', 'objects', 'docs', 'elements'];
  const styles: readonly ((words: readonly string[]) => string)[] = [
    (words) => words.join('_').toLowerCase(),
    (words) => words.join('-').toLowerCase(),
    (words) => words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(''),
    (words) => words.join('').toUpperCase(),
    (words) => `hydra:${words.join('')}`,
    (words) => `@odata.${words.join('')}`,
    (words) => `__${words.join('_')}`,
  ];
  const named = (sign: string, value: unknown, names: readonly (readonly string[])[]) => {
    for (const words of names) {
      for (const style of styles) {
        const [statement] = statements({ [style(words)]: value });
        expect(statement, style(words)).to.include({ sign });
      }
    }
  };

  it('are made of usual words, with any prefix, in any case and with any separators', () => {
    named('total', 120, [
      ...THINGS.map((thing) => ['total', thing]),
      ['total', 'count'],
      ['nb', 'Hits'],
      ['num', 'Found'],
    ]);
    named('total', 120, [['total', 'available'], ['records'], ['list', 'size'], ['i', 'total', 'display', 'records']]);
    for (const name of ['filtered_count', 'filteredTotalCount', 'recordsFiltered'])
      expect(one({ [name]: 120 }), name).to.include({ sign: 'total', isFiltered: true });
    named('pages', 5, [
      ['total', 'Pages'],
      ['total', 'page', 'count'],
      ['nb', 'Pages'],
      ['number', 'Of', 'Pages'],
      ['page', 'Count'],
    ]);
    named('more', true, [
      ...THINGS.map((thing) => ['has', 'more', thing]),
      ['has', 'next', 'page'],
      ['is', 'truncated'],
    ]);
    named('next', 'x', [
      ['next'],
      ['next', 'link'],
      ['next', 'page', 'token'],
      ['continuation', 'token'],
      ['next', 'skip'],
    ]);
    named('previous', 'x', [['prev'], ['previous', 'page', 'url']]);
  });

  it('are no others, however similar', () => {
    const names =
      'page pageNumber pageSize limit offset start status nextRun lastModified totalTime totalPrice moreInfo';
    const others = `${names} filter counter endOfLife perPage maxResults numPage totalScore doneAt`.split(' ');
    for (const name of others)
      for (const value of [120, 'x', true]) expect(statements({ [name]: value }), name).to.deep.equal([]);
  });

  it('are of headers with the prefix of any vendor, but for those that count requests or time', () => {
    const signs = (name: string, text: string) => headerStatements({ [name]: text }).map(({ sign }) => sign);
    for (const prefix of ['', 'x-', 'x-ms-', 'opc-', 'x-acme-cloud-', 'pagination-']) {
      for (const name of ['total-objects', 'total-count', 'total-items', 'total'])
        expect(signs(prefix + name, '120'), prefix + name).to.deep.equal(['total']);
      for (const name of ['continuationtoken', 'continuation-token', 'next-page', 'next-cursor'])
        expect(signs(prefix + name, 'abc'), prefix + name).to.deep.equal(['next']);
      expect(signs(`${prefix}total-pages`, '5'), prefix).to.deep.equal(['pages']);
    }
    for (const name of [
      'x-ratelimit-total',
      'x-total-time',
      'x-cache-hits',
      'x-request-count',
      'x-per-page',
      'x-quota-next',
    ])
      expect(signs(name, '120'), name).to.deep.equal([]);
  });

  it('are a size beside a start and a maximum, and that of a header, which may be the size of the page', () => {
    for (const body of [
      { start: 0, max: 25, size: 120 },
      { startAt: 0, maxResults: 25, size: 120 },
      // Bamboo.
      { 'start-index': 0, 'max-result': 25, size: 120 },
    ])
      expect(one(body)).to.deep.include({ sign: 'total', stated: 120, isSize: true });
    expect(statements({ page: { size: 20, number: 0 } })).to.deep.equal([]);
    expect(headerStatements({ 'acme-pagination-size': '120' })[0]).to.deep.include({ sign: 'total', isSize: true });
  });

  it('are a token, if a reply has one with its last page, too', () => {
    for (const body of [{ endCursor: 'x' }, { paging: { cursors: { before: 'a', after: 'x' } } }, { bookmark: 'x' }])
      expect(one(body)).to.include({ sign: 'token', token: 'x' });
    expect(statements({ endCursor: null, bookmark: 'x'.repeat(257) })).to.deep.equal([]);
  });

  it('are those of a flag in the last item', () => {
    const last = (item: unknown) => statementsOf([], {}, item).map(({ sign, stated }) => [sign, stated]);
    for (const name of ['_more_projects', '_more_', '_has_more', '__more'])
      expect(last({ [name]: true })).to.deep.equal([['more', true]]);
    for (const item of [{ _more_projects: false }, { more: true }, { _moreover: true }, 'x', null])
      expect(last(item)).to.deep.equal([]);
  });
});

describe('the signs of more items in headers', () => {
  it('is a previous page, where a range begins behind the first item', () => {
    const signs = (range: string) => headerStatements({ 'content-range': range }).map(({ sign }) => sign);
    expect(signs('items 20-39/150')).to.deep.equal(['total', 'previous']);
    for (const range of ['items 0-19/150', 'items 1-20/150']) expect(signs(range)).to.deep.equal(['total']);
  });

  it('is a total, a number of pages, a flag or a way to the next page', () => {
    const total = (stated: number) => ({ sign: 'total', stated });
    const next = (stated: boolean) => ({ sign: 'next', stated });
    for (const [headers, expected] of [
      [{ 'x-total-count': '120, 120' }, total(120)],
      [{ 'x-total-pages': '5' }, { sign: 'pages', stated: 5 }],
      [{ 'x-next-page': '2' }, next(true)],
      [{ 'x-next-page': '' }, next(false)],
      [{ 'x-has-more': 'true' }, { sign: 'more', stated: true }],
      [{ 'content-range': 'items 0-24/120' }, total(120)],
      // Without a unit, as PostgREST has it.
      [{ 'content-range': '0-24/120' }, total(120)],
      [{ 'content-range': 'items=0-24/120' }, total(120)],
      [{ 'content-range': 'projects */0' }, total(0)],
      [{ link: '</b>; rel="next"' }, next(true)],
      [{ link: '</b>; rel="first"' }, next(false)],
      [{ link: '</b; rel="next"' }, next(true)],
      [{ link: '</b; rel="last"' }, next(false)],
    ] as const) {
      const statements = headerStatements(headers as unknown as Record<string, string>);
      expect(statements, JSON.stringify(headers)).to.have.length(1);
      expect(statements[0]).to.include(expected).and.not.to.have.property('path');
    }
  });

  it('is what X-Pagination holds as JSON', () => {
    const text = JSON.stringify({ TotalCount: 120, PageSize: 25, HasNext: true });
    expect(headerStatements({ 'x-pagination': text })).to.deep.equal([
      { sign: 'total', name: 'x-pagination: TotalCount', stated: 120 },
      { sign: 'more', name: 'x-pagination: HasNext', stated: true },
    ]);
    for (const other of ['{', 'null', '5']) {
      expect(headerStatements({ 'x-pagination': other })).to.deep.equal([]);
    }
  });

  it('is a way back, by Link', () => {
    const statements = headerStatements({ link: '</a>; rel="prev"' });
    expect(statements.map(({ sign, stated }) => [sign, stated])).to.deep.equal([
      ['next', false],
      ['previous', true],
    ]);
  });

  it('is nothing where they are others, or malformed', () => {
    expect(
      headerStatements({ 'x-total-count': 'many', 'content-range': 'bytes 0-24/120', 'content-length': '5' }),
    ).to.deep.equal([]);
  });
});

describe('the signs', () => {
  it('are those that settings may let off', () => {
    const schema = JSON.parse(settingsJsonSchema(RESOURCES, SLICES));
    const kinds: { properties: { ignoreSigns: { items: { anyOf: { enum?: string[] }[] } } } }[] =
      schema.$defs.pagination.anyOf;
    expect(kinds).to.have.length(5);
    for (const { properties } of kinds) {
      expect(properties.ignoreSigns.items.anyOf[0]?.enum).to.deep.equal([...SIGNS]);
    }
  });
});
