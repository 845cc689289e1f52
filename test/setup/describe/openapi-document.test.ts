import { expect } from 'chai';
import { describeDocument } from '../../../src/setup/describe/openapi-document.ts';
import { list, listing, object, openApi, proposedFor, text } from '../proposed.ts';

function listingsOf(document: unknown) {
  return describeDocument(document)?.listings ?? [];
}

describe('an OpenAPI document', () => {
  it('is none without a version or paths', () => {
    for (const value of [undefined, null, 7, [], {}, { paths: {} }, { openapi: '3.1.0' }, { openapi: 3, paths: {} }]) {
      expect(describeDocument(value)).to.equal(undefined);
    }
  });

  it('is read in version 2.0, with host, base path and security definitions', () => {
    const { written } = proposedFor({
      swagger: '2.0',
      info: { title: 'Acme' },
      host: 'api.acme.dev',
      basePath: '/v2/',
      schemes: ['http', 'https'],
      securityDefinitions: { key: { type: 'apiKey', in: 'header', name: 'X-Acme-Key' } },
      paths: { '/projects': { get: { responses: { 200: { schema: list() } } } } },
    });
    expect(written.upstreams).to.deep.equal({
      platform: { baseUrl: 'https://api.acme.dev/v2', credential: { kind: 'header', name: 'X-Acme-Key' } },
    });
    expect(written.resources['projects']).to.deep.include({ path: '/projects', items: '@' });
  });

  it('may refer to responses, schemas and parameters by pointers with escapes', () => {
    const [found] = listingsOf(
      openApi(
        {
          '/projects': {
            parameters: [{ $ref: '#/components/parameters/a~1b%20c' }],
            responses: { 200: { $ref: '#/components/responses/projects' } },
          },
        },
        {
          components: {
            parameters: { 'a/b c': { name: 'limit', in: 'query', schema: { $ref: '#/components/schemas/Count' } } },
            responses: {
              projects: { content: { 'application/json': { schema: { $ref: '#/components/schemas/List' } } } },
            },
            schemas: { Count: { type: 'integer', maximum: 50 }, List: list() },
          },
        },
      ),
    );
    const [limit] = found?.parameters ?? [];
    expect(limit).to.include({ name: 'limit', required: false, maximum: 50, isNumber: true, isFlag: false });
  });

  it('has references to other documents that are not followed', () => {
    const { written } = proposedFor(
      openApi({
        '/projects': listing({ $ref: 'https://elsewhere.example/schemas.json#/Projects' }),
        '/workflows': listing({ $ref: '../../etc/passwd' }),
        '/tools': listing(list()),
      }),
    );
    expect(written.resources['projects']).to.deep.equal({ enabled: false });
    expect(written.resources['workflows']).to.deep.equal({ enabled: false });
    expect(written.resources['tools']).to.deep.include({ path: '/tools' });
  });

  it('merges allOf, anyOf and oneOf, as for a member that may be null', () => {
    const [found] = listingsOf(
      openApi({
        '/projects': listing({
          type: 'array',
          items: {
            allOf: [
              object({ id: text }),
              { oneOf: [object({ name: text }), object({ title: { anyOf: [text, { type: 'null' }] } })] },
            ],
          },
        }),
      }),
    );
    const members = [...(found?.item.members ?? [])].map(([name, { type }]) => `${name} ${type}`);
    expect(members).to.deep.equal(['id text', 'name text', 'title text']);
  });

  it('has no lists where only scalars, single objects or other media types come', () => {
    const other = { responses: { 200: { description: '', content: { 'text/csv': { schema: list() } } } } };
    const paths = {
      '/projects': other,
      '/workflows': listing({ type: 'array', items: text }),
      '/tools': listing(object({ id: text })),
    };
    expect(listingsOf(openApi(paths))).to.deep.equal([]);
  });

  it('leaves out paths that settings cannot hold', () => {
    const odd = ['/a/${HOME}/projects', '/{a b}/projects', '/{a/projects', 'projects'];
    const paths = ['/pro jects', '/projects?x=1', '/projects#x', ...odd];
    expect(listingsOf(openApi(Object.fromEntries(paths.map((path) => [path, listing(list())]))))).to.deep.equal([]);
  });

  it('may describe a list of another media type of JSON', () => {
    const schema = object({ data: list() });
    const get = { responses: { 200: { content: { 'text/csv': {}, 'application/vnd.api+json; v=1': { schema } } } } };
    const { written } = proposedFor(openApi({ '/projects': get }));
    expect(written.resources['projects']).to.deep.include({ items: 'data' });
  });
});
