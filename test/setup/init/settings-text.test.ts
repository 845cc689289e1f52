import { expect } from 'chai';
import fc from 'fast-check';
import { anyText } from '../../support/any-text.ts';
import { SEEDED } from '../../support/seed.ts';
import { list, listing, loadProposed, object, openApi, parameter, proposedFor, text } from '../proposed.ts';

const NASTY = [
  '',
  '\n',
  '#',
  '${HOME}',
  '$${',
  '"',
  "'",
  '\\',
  ': ',
  '{',
  '}',
  '\u2028',
  '\u202e',
  'é',
  '__proto__',
  'constructor',
  'id',
  'name',
];
const nasty = fc.oneof(
  fc.constantFrom(...NASTY),
  anyText({ maxLength: 20 }),
  fc.array(fc.constantFrom(...NASTY, 'a', ' '), { maxLength: 6 }).map((parts) => parts.join('')),
);
const name = fc.oneof(
  fc.constantFrom(
    'limit',
    'offset',
    'page',
    'cursor',
    'size',
    'X-Org',
    'Host',
    'org',
    'api_key',
    'Token',
    'key',
    'sig',
  ),
  nasty,
);

const anySchema = fc
  .record({
    type: fc.constantFrom('string', 'integer', 'boolean', 'object', 'array', 'null', 7),
    enum: fc.option(fc.array(nasty, { maxLength: 5 }), { nil: undefined }),
    default: fc.option(fc.oneof(nasty, fc.integer()), { nil: undefined }),
    minimum: fc.option(fc.double(), { nil: undefined }),
    maximum: fc.option(fc.double(), { nil: undefined }),
    description: nasty,
  })
  .map((schema) => schema as object);

const anyParameter = fc.record({
  name,
  in: fc.constantFrom('query', 'path', 'header', 'cookie'),
  required: fc.boolean(),
  schema: anySchema,
  description: nasty,
});

const members = fc.dictionary(
  fc.oneof(
    fc.constantFrom('id', 'name', 'status', 'description', 'version', 'type', 'created', 'triggers', 'next', 'total'),
    nasty,
  ),
  anySchema,
  { maxKeys: 8 },
);

const anyOperation = fc.record({
  summary: nasty,
  parameters: fc.array(anyParameter, { maxLength: 4 }),
  item: members,
  beside: members,
  key: fc.oneof(fc.constantFrom('data', 'items'), nasty),
  mediaType: fc.constantFrom('application/json', 'application/vnd.api+json', 'application/x+json\nX: 1', '*/*'),
  headers: fc.dictionary(fc.constantFrom('Link', 'X-Total-Count', 'x'), fc.constant({})),
});

const anyDocument = fc.record({
  title: nasty,
  server: fc.oneof(
    nasty,
    fc.constantFrom('https://api.acme.dev/v1', '/api/{v}', 'https://{region}.acme.dev', 'http://user:x@acme.dev/?q#f'),
  ),
  scheme: fc.record({
    type: fc.constantFrom('apiKey', 'http', 'oauth2'),
    in: fc.constantFrom('header', 'query'),
    name,
    scheme: nasty,
    description: nasty,
  }),
  paths: fc.dictionary(
    fc.oneof(
      fc.constantFrom('/projects', '/orgs/{id}/workflows', '/teams/{id}/tools', '/{a}/{b}/apps'),
      nasty.map((part) => `/${part}/tools`),
    ),
    anyOperation,
    { minKeys: 1, maxKeys: 4 },
  ),
});

function documentOf({ title, server, scheme, paths }: DocumentParts): object {
  return {
    openapi: '3.0.0',
    info: { title },
    servers: [{ url: server }],
    components: { securitySchemes: { scheme } },
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, { summary, parameters, item, beside, key, mediaType, headers }]) => {
        const schema = object({
          ...beside,
          [key]: { type: 'array', items: object({ id: text, name: text, ...item }) },
        });
        return [
          path,
          { get: { summary, parameters, responses: { 200: { headers, content: { [mediaType]: { schema } } } } } },
        ];
      }),
    ),
  };
}

interface DocumentParts {
  readonly title: string;
  readonly server: string;
  readonly scheme: object;
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly summary: string;
        readonly parameters: readonly object[];
        readonly item: Readonly<Record<string, object>>;
        readonly beside: Readonly<Record<string, object>>;
        readonly key: string;
        readonly mediaType: string;
        readonly headers: Readonly<Record<string, object>>;
      }
    >
  >;
}

describe('a proposed settings file', () => {
  it(`loads without mistakes, whatever stands in the document ${SEEDED}`, async () => {
    let offered = 0;
    await fc.assert(
      fc.asyncProperty(anyDocument, async (parts) => {
        const proposed = proposedFor(documentOf(parts));
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

  it('says where the server is to be named, and which variables it needs', () => {
    const {
      variables,
      text: yaml,
      written,
    } = proposedFor(
      openApi(
        {
          '/orgs/{id}/projects': listing(list()),
          '/teams/{id}/workflows': listing(list(), { parameters: [parameter('version', text, { required: true })] }),
          '/orgs/{id}/tools': listing(list()),
        },
        { servers: [{ url: 'http://localhost:8080/api' }] },
      ),
    );
    expect([...variables.keys()]).to.deep.equal(['ACME_URL', 'ACME_ORG_ID', 'ACME_TEAM_ID', 'ACME_VERSION']);
    expect(written.upstreams['acme']?.['baseUrl']).to.equal('${ACME_URL}/api');
    expect(written.resources['workflows']).to.deep.include({
      path: '/teams/{id}/workflows',
      pathParams: { id: '${ACME_TEAM_ID}' },
      query: { version: '${ACME_VERSION}' },
    });
    expect(yaml).to.contain('#   ACME_ORG_ID  id in /orgs/{id}');
  });

  it('takes the same name at two places for two values', () => {
    const paths = { '/a/{owner}/projects': listing(list()), '/b/{owner}/tools': listing(list()) };
    const { variables } = proposedFor(openApi(paths));
    expect([...variables.keys()]).to.deep.equal(['ACME_OWNER', 'ACME_B_OWNER']);
  });

  it('sends no credential in the query, and says so', () => {
    const parameters = [parameter('api_key', text, { required: true })];
    const { written, doubts } = proposedFor(openApi({ '/tools': listing(list(), { parameters }) }));
    expect(written.resources['tools']?.query).to.deep.equal({});
    expect(doubts.join()).to.contain('it requires one in the query, where Portico sends none');
  });

  it('sends the headers and the query without which the platform refuses', () => {
    const header = (name: string, schema: object = text) => ({ name, in: 'header', required: true, schema });
    const parameters = [
      header('X-Org'),
      header('x-org'),
      header('X-Version', { type: 'string', default: '2' }),
      header('Authorization'),
      parameter('kind', { type: 'string', enum: ['all'] }, { required: true }),
    ];
    const { written } = proposedFor(openApi({ '/tools': listing(list(), { parameters }) }));
    expect(written.upstreams['acme']?.['headers']).to.deep.equal({ 'X-Org': '${ACME_X_ORG}', 'X-Version': '2' });
    expect(written.resources['tools']?.query).to.deep.equal({ kind: 'all' });
  });

  it('finds the server beside the document where it is relative', () => {
    const document = openApi({ '/tools': listing(list()) }, { servers: [{ url: '/api/v3' }] });
    expect(proposedFor(document, 'https://sec.acme.dev/schema.json').written.upstreams['acme']?.['baseUrl']).to.equal(
      'https://sec.acme.dev/api/v3',
    );
    expect(proposedFor(document).written.upstreams['acme']?.['baseUrl']).to.equal('${ACME_URL}/api/v3');
  });

  it('names what could be meant as well', () => {
    const { doubts, text: yaml } = proposedFor(
      openApi({ '/tools': listing(list()), '/integrations': listing(list()) }),
    );
    expect(doubts).to.include('tools: whether it is this list or another candidate');
    expect(yaml).to.contain('# Other candidates: /integrations.');
  });
});
