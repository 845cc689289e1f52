import { expect } from 'chai';
import fc from 'fast-check';
import { anyText } from '../../support/any-text.ts';
import { SEEDED } from '../../support/seed.ts';
import { list, listing, loadProposed, object, openApi, parameter, proposedFor, text } from '../proposed.ts';

const PARTS = ['', '\n', '#', '${HOME}', '$${', '"', "'", '\\', ': ', '{', '}', '\u2028', '\u202e', 'é', 'a', ' '];
const NAMES = 'limit offset page cursor size X-Org Host org api_key Token key sig __proto__ constructor id name'.split(
  ' ',
);
const MEMBERS = 'id name status description version type created triggers next total'.split(' ');

const nasty = fc.oneof(
  anyText({ maxLength: 20 }),
  fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join('')),
);
const name = fc.oneof(fc.constantFrom(...NAMES), nasty);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const schema = fc.record({
  type: fc.constantFrom<unknown>('string', 'integer', 'boolean', 'object', 'array', 'null', 7),
  enum: maybe(fc.array(nasty, { maxLength: 5 })),
  default: maybe(fc.oneof(nasty, fc.integer())),
  minimum: maybe(fc.double()),
  maximum: maybe(fc.double()),
  description: nasty,
});
const place = fc.constantFrom('query', 'path', 'header', 'cookie');
const anyParameter = fc.record({ name, in: place, required: fc.boolean(), schema, description: nasty });
const members = fc.dictionary(fc.oneof(fc.constantFrom(...MEMBERS), nasty), schema, { maxKeys: 8 });
const mediaType = fc.constantFrom('application/json', 'application/vnd.api+json', 'application/x+json\nX: 1', '*/*');
const headers = fc.dictionary(fc.constantFrom('Link', 'X-Total-Count', 'x'), fc.constant({}));

const operation = fc
  .record({
    ...{ summary: nasty, parameters: fc.array(anyParameter, { maxLength: 4 }), item: members, beside: members },
    ...{ key: fc.oneof(fc.constantFrom('data', 'items'), nasty), mediaType, headers },
  })
  .map(({ summary, parameters, item, beside, key, mediaType, headers }) => {
    const body = object({ ...beside, [key]: list(item) });
    return { summary, parameters, responses: { 200: { headers, content: { [mediaType]: { schema: body } } } } };
  });
const paths = fc.dictionary(
  fc.oneof(
    fc.constantFrom('/projects', '/orgs/{id}/workflows', '/teams/{id}/tools', '/{a}/{b}/apps'),
    nasty.map((part) => `/${part}/tools`),
  ),
  operation,
  { minKeys: 1, maxKeys: 4 },
);
const SERVERS = ['https://api.acme.dev/v1', '/api/{v}', 'https://{region}.acme.dev', 'http://user:x@acme.dev/?q#f'];
const server = fc.oneof(nasty, fc.constantFrom(...SERVERS));
const scheme = fc.record({
  ...{ type: fc.constantFrom('apiKey', 'http', 'oauth2'), in: fc.constantFrom('header', 'query') },
  ...{ name, scheme: nasty, description: nasty },
});
const documents = fc.record({ title: nasty, server, scheme, paths }).map(({ title, server, scheme, paths }) => {
  const components = { securitySchemes: { scheme } };
  return openApi(paths, { info: { title }, servers: [{ url: server }], components });
});

describe('a proposed settings file', () => {
  it(`is valid for any document ${SEEDED}`, async () => {
    let offered = 0;
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        const proposed = proposedFor(document);
        if (proposed.offered.length === 0) return;
        offered += 1;
        const config = await loadProposed(proposed);
        const enabled = Object.entries(config.resources).flatMap(([each, { enabled: is }]) => (is ? [each] : []));
        expect(enabled).to.deep.equal(proposed.offered);
      }),
      { numRuns: 200 },
    );
    expect(offered).to.be.above(50);
  }).timeout(60_000);

  it('names the environment variables for the server, for parts of paths and for required parameters', () => {
    const required = [parameter('version', text, { required: true })];
    const paths = {
      '/orgs/{id}/projects': listing(list()),
      '/teams/{id}/workflows': listing(list(), { parameters: required }),
      '/orgs/{id}/tools': listing(list()),
    };
    const proposed = proposedFor(openApi(paths, { servers: [{ url: 'http://localhost:8080/api' }] }));
    const { variables, written } = proposed;
    const names = ['URL', 'ORG_ID', 'TEAM_ID', 'VERSION'].map((name) => `PLATFORM_${name}`);
    expect([...variables.keys()]).to.have.members(names);
    expect(written.upstreams['platform']?.['baseUrl']).to.equal('${PLATFORM_URL}/api');
    expect(written.resources['workflows']).to.deep.include({
      path: '/teams/{id}/workflows',
      pathParams: { id: '${PLATFORM_TEAM_ID}' },
      query: { version: '${PLATFORM_VERSION}' },
    });
    expect(proposed.text).to.contain('#   PLATFORM_ORG_ID  id in /orgs/{id}');
  });

  it('takes the same name at two places for two values', () => {
    const paths = { '/a/{owner}/projects': listing(list()), '/b/{owner}/tools': listing(list()) };
    const names = [...proposedFor(openApi(paths)).variables.keys()];
    expect(names).to.deep.equal(['PLATFORM_OWNER', 'PLATFORM_B_OWNER']);
  });

  it('has the required query, and no credential in it', () => {
    const parameters = [
      parameter('kind', { type: 'string', enum: ['all'] }, { required: true }),
      parameter('api_key', text, { required: true }),
    ];
    const { written, doubts } = proposedFor(openApi({ '/tools': listing(list(), { parameters }) }));
    expect(written.resources['tools']?.query).to.deep.equal({ kind: 'all' });
    expect(doubts.join()).to.contain('it requires one in the query, where Portico sends none');
  });

  it('has the server beside the document if it is relative', () => {
    const document = openApi({ '/tools': listing(list()) }, { servers: [{ url: '/api/v3' }] });
    const baseUrl = (from?: string) => proposedFor(document, from).written.upstreams['platform']?.['baseUrl'];
    expect(baseUrl('https://sec.acme.dev/schema.json')).to.equal('https://sec.acme.dev/api/v3');
    expect(baseUrl()).to.equal('${PLATFORM_URL}/api/v3');
  });

  it('names the other candidates', () => {
    const proposed = proposedFor(openApi({ '/tools': listing(list()), '/integrations': listing(list()) }));
    expect(proposed.doubts).to.include('tools: whether it is this list or another candidate');
    expect(proposed.text).to.contain('# Other candidates: /integrations.');
  });
});
