import { expect } from 'chai';
import { SLICES } from '../../../../src/composition.ts';
import { settingsJsonSchema } from '../../../../src/core/config/json-schema.ts';
import { RESOURCES } from '../../../../src/core/resources/index.ts';
import { SIGNS } from '../../../../src/core/upstream/signs/signs.ts';
import { headerStatements, type Statement, statementsOf } from '../../../../src/core/upstream/signs/statements.ts';

const said = (body: object, headers: Record<string, string> = {}) =>
  statementsOf([{ fields: [], value: body }], headers);

const one = (body: object): Statement | undefined => {
  const [statement, ...others] = said(body);
  expect(others).to.deep.equal([]);
  return statement;
};

describe('the signs of more items in a body', () => {
  const totals: Readonly<Record<string, object>> = {
    total: { total: 120 },
    total_count: { total_count: 120 },
    totalCount: { totalCount: 120 },
    count: { count: 120 },
    totalItems: { totalItems: 120 },
    TotalRecords: { TotalRecords: 120 },
    '"total-results"': { 'total-results': 120 },
    'meta.total': { meta: { total: 120 } },
    'metadata.total_data': { metadata: { total_data: 120 } },
    'meta.pagination.total': { meta: { pagination: { total: 120 } } },
    'page.totalElements': { page: { totalElements: 120 } },
    'response_metadata.total': { response_metadata: { total: 120 } },
    '"@odata.count"': { '@odata.count': 120 },
    'meta."total-count"': { meta: { 'total-count': '120' } },
  };
  for (const [path, body] of Object.entries(totals)) {
    it(`is a total: ${path}`, () => {
      expect(one(body)).to.deep.include({ sign: 'total', path, says: 120 });
    });
  }

  for (const text of ['120', ' 120 ', '+120', '120.0', '000000000000000000120']) {
    it(`is a total as text: ${JSON.stringify(text)}`, () => {
      expect(one({ total: text })).to.include({ sign: 'total', says: 120 });
    });
  }

  it('is a total as text however many digits it has, and none where the text is no number', () => {
    expect(one({ total: '9'.repeat(20) })).to.include({ says: 1e20 });
    for (const text of ['', '-1', '1 2', '0x10', '9'.repeat(41)]) expect(said({ total: text })).to.deep.equal([]);
  });

  it('is a total of Elasticsearch, and more than that where it is a lower bound', () => {
    expect(one({ total: { value: 120, relation: 'eq' } })).to.include({ path: 'total.value', says: 120 });
    expect(one({ total: { value: 10_000, relation: 'gte' } })).to.include({ path: 'total.value', says: 10_001 });
    expect(said({ total: { sum: 5 } })).to.deep.equal([]);
    expect(said({ total: null })).to.deep.equal([]);
  });

  const flags: Readonly<Record<string, readonly [object, boolean]>> = {
    has_more: [{ has_more: true }, true],
    hasNextPage: [{ pageInfo: { hasNextPage: true } }, true],
    'has_more: false': [{ has_more: false }, false],
    'isLast: false': [{ isLast: false }, true],
    'isLast: true': [{ isLast: true }, false],
    'last: false': [{ last: false }, true],
    'done: false': [{ done: false }, true],
    'is_truncated as text': [{ is_truncated: 'true' }, true],
    'has_more as text': [{ has_more: 'FALSE' }, false],
    'has_more as a number': [{ has_more: 1 }, true],
    remainingItemCount: [{ metadata: { remainingItemCount: 7 } }, true],
    'no remainingItemCount': [{ metadata: { remainingItemCount: 0 } }, false],
  };
  for (const [name, [body, says]] of Object.entries(flags)) {
    it(`is a flag: ${name}`, () => {
      expect(one(body)).to.include({ sign: 'more', says });
    });
  }

  const ways: Readonly<Record<string, readonly [object, boolean]>> = {
    'next as a URL': [{ next: 'https://platform.example/list?page=2' }, true],
    'next as a path': [{ links: { next: '/list?page=2' } }, true],
    'next as a query': [{ next: '?page=2' }, true],
    'next as a link object': [{ _links: { next: { href: '/list?page=2' } } }, true],
    'next as a page number': [{ nextPage: 2 }, true],
    'next_cursor in response_metadata': [{ response_metadata: { next_cursor: 'abc' } }, true],
    nextPageToken: [{ nextPageToken: 'abc' }, true],
    '@odata.nextLink': [{ '@odata.nextLink': 'https://platform.example/x' }, true],
    'a list of links': [
      {
        links: [
          { rel: 'self', href: '/' },
          { rel: 'next', href: '/n' },
        ],
      },
      true,
    ],
    'a key of several parts': [{ LastEvaluatedKey: { id: { S: 'x' } } }, true],
    'next: true': [{ next: true }, true],
    'a list of link objects (HAL)': [{ _links: { next: [{ href: '/list?page=2' }] } }, true],
    'the sort values of the last item': [{ next: ['2026-01-01', 17] }, true],
    'an empty list': [{ next: [] }, false],
    'an empty next': [{ next: '' }, false],
    'a null next': [{ next: null }, false],
    'a blank next': [{ next: ' ' }, false],
    'next 0': [{ next_cursor: 0 }, false],
    'next -1': [{ next_cursor: -1 }, false],
    'next "0"': [{ next_cursor: '0' }, false],
    'an empty link object': [{ next: {} }, false],
    'a link object without href': [{ next: { href: null } }, false],
  };
  for (const [name, [body, says]] of Object.entries(ways)) {
    it(`is a way to the next page, or that there is none: ${name}`, () => {
      expect(one(body)).to.include({ sign: 'next', says });
    });
  }

  it('is a number of pages, or a way back', () => {
    expect(one({ total_pages: 5 })).to.include({ sign: 'pages', says: 5 });
    expect(one({ last_page: 5 })).to.include({ sign: 'pages', says: 5 });
    expect(one({ prev: '/list?page=1' })).to.include({ sign: 'previous', says: true });
    expect(one({ links: [{ rel: 'prev', href: '/' }] })).to.include({ sign: 'previous', says: true });
    expect(one({ has_previous: false })).to.include({ sign: 'previous', says: false });
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
    expect(said(body)).to.deep.equal([]);
  });

  it('is found in an element of a list, where that is on the way', () => {
    const statements = statementsOf([{ fields: ['results', 0], value: { total: 120 } }], {});
    expect(statements.map(({ path }) => path)).to.deep.equal(['results[0].total']);
  });

  it('is found beside the list, and in each object that leads to it', () => {
    const data = { total: 3, workflows: [] };
    const statements = statementsOf(
      [
        { fields: [], value: { data, has_more: true } },
        { fields: ['da-ta'], value: data },
      ],
      {},
    );
    expect(statements.map(({ path }) => path)).to.deep.equal(['has_more', '"da-ta".total']);
  });
});

describe('the signs of more items in headers', () => {
  const cases: Readonly<Record<string, readonly [Record<string, string>, object]>> = {
    'X-Total-Count': [{ 'x-total-count': '120' }, { sign: 'total', says: 120 }],
    'X-Total-Pages': [{ 'x-total-pages': '5' }, { sign: 'pages', says: 5 }],
    'X-Next-Page': [{ 'x-next-page': '2' }, { sign: 'next', says: true }],
    'an empty X-Next-Page': [{ 'x-next-page': '' }, { sign: 'next', says: false }],
    'X-Has-More': [{ 'x-has-more': 'true' }, { sign: 'more', says: true }],
    'Content-Range': [{ 'content-range': 'items 0-24/120' }, { sign: 'total', says: 120 }],
    'Content-Range without a unit, as PostgREST has it': [
      { 'content-range': '0-24/120' },
      { sign: 'total', says: 120 },
    ],
    'Content-Range with an equals sign': [{ 'content-range': 'items=0-24/120' }, { sign: 'total', says: 120 }],
    'X-Total-Count, twice the same': [{ 'x-total-count': '120, 120' }, { sign: 'total', says: 120 }],
    'Content-Range of nothing': [{ 'content-range': 'projects */0' }, { sign: 'total', says: 0 }],
    'Link: rel=next': [{ link: '</b>; rel="next"' }, { sign: 'next', says: true }],
    'Link without next': [{ link: '</b>; rel="first"' }, { sign: 'next', says: false }],
    'Link that is malformed and has the word': [{ link: '</b; rel="next"' }, { sign: 'next', says: true }],
    'Link that is malformed': [{ link: '</b; rel="last"' }, { sign: 'next', says: false }],
  };
  for (const [name, [headers, expected]] of Object.entries(cases)) {
    it(`is: ${name}`, () => {
      const statements = headerStatements(headers);
      expect(statements).to.have.length(1);
      expect(statements[0]).to.include(expected);
      expect(statements[0]).not.to.have.property('path');
    });
  }

  it('is what X-Pagination holds as JSON', () => {
    const text = JSON.stringify({ TotalCount: 120, PageSize: 25, HasNext: true });
    expect(headerStatements({ 'x-pagination': text })).to.deep.equal([
      { sign: 'total', name: 'X-Pagination: totalCount', says: 120 },
      { sign: 'more', name: 'X-Pagination: hasNext', says: true },
    ]);
    for (const other of ['{', 'null', '5']) {
      expect(headerStatements({ 'x-pagination': other })).to.deep.equal([]);
    }
  });

  it('is a way back, by Link', () => {
    const statements = headerStatements({ link: '</a>; rel="prev"' });
    expect(statements.map(({ sign, says }) => [sign, says])).to.deep.equal([
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
