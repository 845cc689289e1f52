import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const SERVER = 'https://opencti.example.com';
const TIMES = { created_at: '2026-02-03T04:05:06.789Z', updated_at: '2026-02-04T04:05:06.789Z' };

const opencti = () =>
  nock(SERVER, { reqheaders: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' } });

/** The nth of many UUIDs. */
const uuid = (number: number) => `9c4be7c2-5a6a-4a31-9c1d-${String(number).padStart(12, '0')}`;

interface Node {
  readonly id: string;
  readonly [field: string]: unknown;
}

interface Request {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Answers a query for the connection `name` after `cursor`, `size` nodes a page. Its last page has a cursor, too. */
function serve(name: string, nodes: readonly Node[], cursor: string | null = null, size = 100) {
  const start = cursor === null ? 0 : nodes.findIndex(({ id }) => `cursor of ${id}` === cursor) + 1;
  const page = nodes.slice(start, start + size);
  const cursorOf = (node?: Node) => (node === undefined ? '' : `cursor of ${node.id}`);
  opencti()
    .post('/graphql', ({ query, variables }: Request) => {
      expect(variables).to.deep.equal({ first: 100, after: cursor });
      return query.includes(`${name}(first: $first, after: $after, orderBy: created_at, orderMode: asc)`);
    })
    .reply(200, {
      data: {
        [name]: {
          edges: page.map((node) => ({ node })),
          pageInfo: {
            endCursor: cursorOf(page.at(-1)),
            hasNextPage: start + size < nodes.length,
            globalCount: nodes.length,
          },
        },
      },
    });
}

describe('config/examples/opencti.yaml', () => {
  const read = serveExample('opencti', { OPENCTI_URL: SERVER });

  it('reads incident responses as projects, from cursor to cursor until there is no next page', async () => {
    const nodes = Array.from({ length: 230 }, (_, number) => ({
      id: uuid(number),
      name: `Case ${number}`,
      description: number % 2 === 0 ? null : `About ${number}`,
      created_at: TIMES.created_at,
    }));
    for (const cursor of [null, `cursor of ${uuid(99)}`, `cursor of ${uuid(199)}`])
      serve('caseIncidents', nodes, cursor);

    const { status, body } = await read('projects');

    expect(body).to.deep.equal(
      nodes.map(({ id, name, description }) => ({
        id,
        name,
        description: description ?? '',
        createTime: TIMES.created_at,
      })),
    );
    expect(status).to.equal(200);
  });

  it('reads playbooks as workflows', async () => {
    serve('playbooks', [
      { id: uuid(1), name: 'Enrich', description: 'Enriches what comes in', playbook_running: true },
      { id: uuid(2), name: 'Share', description: null, playbook_running: false },
      { id: uuid(3), name: 'New', description: null, playbook_running: null },
    ]);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      { id: uuid(1), name: 'Enrich', description: 'Enriches what comes in', triggerType: '', status: 'ACTIVE' },
      { id: uuid(2), name: 'Share', description: '', triggerType: '', status: 'STOPPED' },
      { id: uuid(3), name: 'New', description: '', triggerType: '', status: 'STOPPED' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads the connectors that are alive as tools, in one page', async () => {
    const connector = { active: true, connector_type: 'EXTERNAL_IMPORT', connector_scope: null };
    opencti()
      .post('/graphql', ({ query }: Request) => query.includes('connectors {'))
      .reply(200, {
        data: {
          connectors: [
            { ...connector, id: uuid(1), name: 'MITRE ATT&CK', connector_scope: ['tool', 'malware'] },
            { ...connector, id: uuid(2), name: 'Export', connector_type: 'INTERNAL_EXPORT_FILE' },
            { ...connector, id: uuid(3), name: 'Gone', active: false },
          ],
        },
      });

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      { id: uuid(1), name: 'MITRE ATT&CK', version: '', category: 'EXTERNAL_IMPORT', description: 'tool, malware' },
      { id: uuid(2), name: 'Export', version: '', category: 'INTERNAL_EXPORT_FILE', description: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    serve('playbooks', []);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('takes an answer with errors for a failure, whatever its status', async () => {
    const error = (code: string, message: string, http: number) => ({
      errors: [
        {
          message,
          locations: [{ line: 2, column: 3 }],
          path: ['caseIncidents'],
          extensions: { code, data: { http_status: http, genre: 'TECHNICAL' } },
          name: code,
        },
      ],
      data: null,
    });
    opencti()
      .post('/graphql')
      .reply(200, error('AUTH_REQUIRED', 'You must be logged in to do this.', 401));

    const refused = await read('projects');

    expect(refused.body).to.include({ code: 'upstream_failed', upstream: 'opencti' });
    expect(refused.status).to.equal(502);

    opencti()
      .post('/graphql')
      .reply(200, {
        ...error('FORBIDDEN_ACCESS', 'You are not allowed to do this.', 403),
        data: {
          connectors: [{ id: uuid(1), name: 'One of two', active: true, connector_type: null, connector_scope: [] }],
        },
      });

    const partial = await read('tools');

    expect(partial.body).to.include({ code: 'upstream_failed', upstream: 'opencti' });
    expect(partial.status).to.equal(502);
  });
});
