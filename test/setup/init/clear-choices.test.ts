import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { list, listing, loadProposed, number, object, openApi, parameter, proposedFor, text } from './proposed.ts';

const DOCUMENTS = new URL('documents/', import.meta.url);
const INTEGER = { type: 'integer' };

/** The settings of tools, where its list is at `/tools`; `undefined` where nothing is filled in. */
function tools(schema: object, more: object = {}, headers: object = {}) {
  const { written, offered, text: all } = proposedFor(openApi({ '/tools': listing(schema, more, headers) }));
  return { ...(offered.includes('tools') ? written.resources['tools'] : {}), all };
}

const page = (members: Readonly<Record<string, object>> = {}) => object({ data: list(), ...members });
const query = (...names: readonly string[]) => ({ parameters: names.map((name) => parameter(name, INTEGER)) });

describe('settings from published OpenAPI documents', () => {
  for (const name of readdirSync(DOCUMENTS).filter((file) => file.endsWith('.yaml'))) {
    it(`are valid, and fill in nothing that is not clear: ${name}`, async () => {
      const proposed = proposedFor(readFileSync(new URL(name, DOCUMENTS), 'utf8'));
      // None of these platforms has a list that can only be the resource.
      expect(proposed.offered).to.deep.equal([]);
      expect(proposed.text).to.match(/^ {4}enabled: false # no (?:choice is clear|list in the document looks like)/m);
      await loadProposed(proposed).catch((error: Error) => expect(error.message).to.contain('are all disabled'));
    });
  }
});

describe('a list is filled in', () => {
  it('where its path, items, id, name and paging have one reading', () => {
    expect(tools(page())).to.deep.include({ path: '/tools', items: 'data', pagination: { kind: 'none' } });
  });

  it('whatever its path has before it for the version', () => {
    for (const version of ['v1', '2', '2.0', '2024-09-25', 'v1beta1']) {
      expect(proposedFor(openApi({ [`/api/${version}/tools`]: listing(list()) })).offered, version).to.include('tools');
    }
  });

  for (const [what, paths] of [
    ['two paths are equally likely', { '/v1/tools': listing(list()), '/v2/tools': listing(list()) }],
    ['it is below a parent', { '/projects/{id}/tools': listing(list()) }],
    ['it is of something else', { '/scheduler/jobs': listing(list()), '/tools/history': listing(list()) }],
    ['its noun also names runs', { '/jobs': listing(list()), '/pipelines': listing(list()) }],
    ['it has no name', { '/tools': listing({ type: 'array', items: object({ id: text }) }) }],
    [
      'it requires a parameter',
      { '/tools': listing(list(), { parameters: [parameter('org', text, { required: true })] }) },
    ],
    ['a reply has two lists', { '/tools': listing(object({ results: list(), items: list() })) }],
    [
      'its names are in an envelope',
      { '/tools': listing({ type: 'array', items: object({ metadata: object({ name: text, uid: text }) }) }) },
    ],
    [
      'it requires a header',
      { '/tools': listing(list(), { parameters: [{ name: 'X-Account', in: 'header', required: true }] }) },
    ],
    ['its path ends with a parent', { '/tools/{namespace}': listing(list(), { summary: 'ListTools' }) }],
    ['its reply is described in another file', { '/tools': listing({ $ref: 'tools.yaml#/List' }) }],
    ['it is deprecated', { '/tools': listing(list(), { deprecated: true }) }],
    ['it is a search', { '/tools/search': listing(list()) }],
  ] as const) {
    it(`but not where ${what}`, () => {
      const { offered, text: all } = proposedFor(openApi(paths));
      expect(offered).to.deep.equal([]);
      for (const path of Object.keys(paths).filter((each) => !/scheduler|history/.test(each))) {
        expect(all).to.contain(`GET ${path}`);
      }
    });
  }

  it('rather than one that is deprecated, or a search', () => {
    const others = { '/projects': listing(list(), { deprecated: true }), '/projects/search': listing(list()) };
    const { offered, text: all } = proposedFor(openApi(others));
    expect(offered).to.deep.equal([]);
    expect(all).to.match(/1\. GET \/projects\/search\n.*it is a search[\s\S]*2\. GET \/projects\n.*it is deprecated/);
  });

  it('once the marks of a candidate and enabled: false are removed', () => {
    const { text: proposed } = proposedFor(openApi({ '/tools/search': listing(list()) }));
    const chosen = proposed
      .replace(/ +enabled: false # no choice.*\n/, '')
      .replace(/^ {4}# (?!\d\. | {2} - )/gm, '    ');
    expect(parse(chosen).resources.tools).to.include({ path: '/tools/search', items: '@' });
  });

  it('beside those of items that failed', () => {
    expect(tools(object({ failed_items: list(), affected_items: list() }))).to.include({ items: 'affected_items' });
  });

  it('and what another file or an envelope holds is said', () => {
    expect(tools({ $ref: 'tools.yaml#/List' }).all).to.contain('its reply is described in another file');
    const enveloped = { type: 'array', items: object({ metadata: object({ name: text, uid: text }) }) };
    expect(tools(enveloped).all.split('name may be metadata.name'), 'once').to.have.length(2);
  });
});

describe('paging is filled in', () => {
  for (const [what, given, pagination] of [
    ['a Link header', tools(list(), query('page', 'per_page'), { Link: {} }), { kind: 'link', sizeParam: 'per_page' }],
    [
      'a token and parameters of an object, as of Kubernetes',
      tools(object({ items: list(), metadata: object({ continue: text }) }), query('o.limit', 'o.continue')),
      { kind: 'token', sizeParam: 'o.limit', tokenParam: 'o.continue', next: 'metadata.continue' },
    ],
    [
      'a token of the reply',
      tools(page({ nextPageToken: text }), query('pageToken')),
      { kind: 'token', sizeParam: null, tokenParam: 'pageToken', next: 'nextPageToken' },
    ],
    [
      'a URL of the reply',
      tools(page({ next: { ...text, format: 'uri' } }), query('limit')),
      { kind: 'link', sizeParam: 'limit', next: 'next' },
    ],
    [
      'a link in an object, as of HAL',
      tools(page({ _links: object({ self: object({ href: text }), next: object({ href: text }) }) })),
      { kind: 'link', sizeParam: null, next: '_links.next.href' },
    ],
    [
      'a link beside a token, as of Asana',
      tools(page({ next_page: object({ offset: text, path: text, uri: text }) }), query('limit', 'offset')),
      { kind: 'link', sizeParam: 'limit', next: 'next_page.uri' },
    ],
    [
      'an offset and a total',
      tools(page({ total: number }), query('offset', 'limit')),
      { kind: 'offset', sizeParam: 'limit', offsetParam: 'offset', total: 'total' },
    ],
    [
      'a page number and a total',
      tools(page({ totalCount: number }), query('page')),
      { kind: 'page', sizeParam: null, pageParam: 'page', firstPage: 1, total: 'totalCount' },
    ],
    [
      'a page number that counts from 0',
      tools(page(), { parameters: [parameter('page', { ...INTEGER, default: 0 })] }),
      { kind: 'page', sizeParam: null, pageParam: 'page', firstPage: 0 },
    ],
  ] as const) {
    it(`from ${what}`, () => expect(given.pagination).to.deep.equal(pagination));
  }

  for (const [what, given] of [
    ['a next that can be a URL or a token', tools(page({ next: text }), query('cursor'))],
    ['an object that can hold the next', tools(page({ links: object({ next: object({}) }) }))],
    ['two parameters for the place', tools(page(), query('offset', 'page'))],
    ['a page number whose first is unknown', tools(page(), query('page'))],
    [
      'an offset that counts from 1',
      tools(page(), { parameters: [parameter('startIndex', { ...INTEGER, default: 1 })] }),
    ],
    ['a range', tools(page(), { parameters: [parameter('range', { ...text, default: '0-10' })] })],
    ['a size alone', tools(page(), query('limit'))],
    ['a total alone', tools(page({ total: number }))],
  ] as const) {
    it(`but not from ${what}`, () => {
      expect(given.pagination).to.equal(undefined);
      expect(given.all).to.contain('paging is not clear');
    });
  }

  it('without a total that must be requested', () => {
    const counted = { parameters: [parameter('offset', INTEGER), parameter('include_total', { type: 'boolean' })] };
    const { pagination, all } = tools(page({ total: number }), counted);
    expect(pagination).to.deep.equal({ kind: 'offset', sizeParam: null, offsetParam: 'offset' });
    expect(all).to.contain('a total must be requested with include_total');
  });

  it('with a total beside a flag whose name only ends like a count', () => {
    const flagged = { parameters: [parameter('offset', INTEGER), parameter('service_account', { type: 'boolean' })] };
    const { pagination } = tools(page({ total: number }), flagged);
    expect(pagination).to.deep.equal({ kind: 'offset', sizeParam: null, offsetParam: 'offset', total: 'total' });
  });
});

describe('the credential', () => {
  const credential = (schemes: object, security: readonly object[] = [{ a: [] }]) => {
    const more = { components: { securitySchemes: schemes }, security };
    return proposedFor(openApi({ '/tools': listing(list()) }, more)).written.upstreams['platform']?.['credential'];
  };
  const inHeader = (name: string, description = '') => ({ a: { type: 'apiKey', in: 'header', name, description } });

  for (const [what, given, expected] of [
    ['a bearer token', credential({ a: { type: 'http', scheme: 'bearer' } }), { kind: 'passthrough' }],
    ['a header of its own', credential(inHeader('X-Acme-Key')), { kind: 'header', name: 'X-Acme-Key' }],
    [
      'a header beside a cookie',
      credential({ c: inHeader('Cookie').a, ...inHeader('X-Key') }, [{ c: [] }, { a: [] }]),
      { kind: 'header', name: 'X-Key' },
    ],
    [
      'nothing, where only a description says what precedes the token',
      credential(inHeader('Authorization', 'The key, prefixed with SSWS.')),
      undefined,
    ],
    [
      'nothing, where two keys are needed together',
      credential({ ...inHeader('X-A'), b: { type: 'apiKey', in: 'header', name: 'X-B' } }, [{ a: [], b: [] }]),
      undefined,
    ],
    ['nothing for a user name and password', credential({ a: { type: 'http', scheme: 'basic' } }), undefined],
    ['nothing for a key in the query', credential({ a: { type: 'apiKey', in: 'query', name: 'key' } }), undefined],
  ] as const) {
    it(`is ${what}`, () => expect(given).to.deep.equal(expected));
  }
});
