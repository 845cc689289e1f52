import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const SERVER = 'https://defectdojo.example.com';

const defectdojo = () => nock(SERVER, { reqheaders: { authorization: `Token ${TOKEN}` } });

/** One page of a DefectDojo list: `count` items in all, `next` and `previous` by URL. */
function page(count: number, results: readonly object[], next: string | null, previous: string | null) {
  return { count, next, previous, results, prefetch: {} };
}

function product(id: number, name: string, description: string, created: string | null) {
  return {
    id,
    findings_count: 0,
    findings_list: [],
    tags: ['internet'],
    product_meta: [],
    name,
    description,
    created,
    prod_numeric_grade: null,
    business_criticality: 'high',
    platform: null,
    lifecycle: 'production',
    origin: null,
    revenue: null,
    external_audience: false,
    internet_accessible: true,
    product_manager: null,
    technical_contact: 4,
    prod_type: 1,
    sla_configuration: 1,
    members: [4],
    authorization_groups: [],
    regulations: [],
  };
}

function engagement(id: number, fields: object) {
  return {
    id,
    tags: [],
    name: null,
    description: null,
    version: null,
    first_contacted: null,
    target_start: '2026-01-05',
    target_end: '2026-12-31',
    reason: null,
    updated: '2026-01-06T10:11:12.131415Z',
    created: '2026-01-05T09:12:44.120563Z',
    active: true,
    tracker: null,
    threat_model: false,
    api_test: true,
    status: 'In Progress',
    progress: 'threat_model',
    done_testing: false,
    engagement_type: 'Interactive',
    build_id: null,
    commit_hash: null,
    branch_tag: null,
    deduplication_on_engagement: false,
    lead: 4,
    product: 1,
    notes: [],
    files: [],
    risk_acceptance: [],
    ...fields,
  };
}

function testType(id: number, name: string, staticTool: boolean, dynamicTool: boolean, active = true) {
  return {
    id,
    tags: [],
    name,
    static_tool: staticTool,
    dynamic_tool: dynamicTool,
    active,
    dynamically_generated: false,
  };
}

describe('config/examples/defectdojo.yaml', () => {
  const read = serveExample('defectdojo', { DEFECTDOJO_URL: SERVER });

  it('reads products as projects, along the links in the body', async () => {
    const query = { o: 'id', limit: '100' };
    const link = (offset: number) =>
      `${SERVER}/api/v2/products/?limit=100&o=id${offset > 0 ? `&offset=${offset}` : ''}`;
    const first = Array.from({ length: 100 }, (_, index) =>
      product(index + 1, `Product ${index + 1}`, 'One of many', '2024-05-02T09:12:44Z'),
    );
    const second = Array.from({ length: 100 }, (_, index) =>
      product(index + 101, `Product ${index + 101}`, 'One of many', '2024-05-02T11:12:44+02:00'),
    );
    defectdojo()
      .get('/api/v2/products/')
      .query(query)
      .reply(200, page(201, first, link(100), null))
      .get('/api/v2/products/')
      .query({ ...query, offset: '100' })
      .reply(200, page(201, second, link(200), link(0)))
      .get('/api/v2/products/')
      .query({ ...query, offset: '200' })
      .reply(200, page(201, [product(201, 'Payments', 'Takes payments', null)], null, link(100)));

    const { status, body } = await read('projects');

    expect(body).to.deep.equal([
      ...Array.from({ length: 200 }, (_, index) => ({
        id: String(index + 1),
        name: `Product ${index + 1}`,
        description: 'One of many',
        createTime: '2024-05-02T09:12:44Z',
      })),
      { id: '201', name: 'Payments', description: 'Takes payments', createTime: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads engagements as workflows, nameless ones by their number', async () => {
    defectdojo()
      .get('/api/v2/engagements/')
      .query({ limit: '100' })
      .reply(
        200,
        page(
          5,
          [
            engagement(12, { name: 'Pentest 2026', description: 'All public endpoints' }),
            engagement(13, { name: 'main', engagement_type: 'CI/CD', status: 'Completed', active: false }),
            engagement(14, { status: 'Waiting for Resource' }),
            engagement(15, { name: 'Imported', engagement_type: null, status: null }),
            engagement(16, { name: 'Retest', status: 'Scheduled' }),
          ],
          null,
          null,
        ),
      );

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      { id: '12', name: 'Pentest 2026', description: 'All public endpoints', triggerType: 'MANUAL', status: 'ACTIVE' },
      { id: '13', name: 'main', description: '', triggerType: 'PIPELINE', status: 'COMPLETED' },
      { id: '14', name: 'Engagement 14', description: '', triggerType: 'MANUAL', status: 'PAUSED' },
      { id: '15', name: 'Imported', description: '', triggerType: '', status: '' },
      { id: '16', name: 'Retest', description: '', triggerType: 'MANUAL', status: 'PENDING' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads active test types as tools, and says what kind each is', async () => {
    defectdojo()
      .get('/api/v2/test_types/')
      .query({ limit: '100' })
      .reply(
        200,
        page(
          4,
          [
            testType(31, 'Semgrep JSON Report', true, false),
            testType(32, 'ZAP Scan', false, true),
            testType(33, 'Retired Scan', true, false, false),
            testType(34, 'Manual Code Review', false, false),
          ],
          null,
          null,
        ),
      );

    const { status, body } = await read('tools');

    const tool = { version: '', description: '' };
    expect(body).to.deep.equal([
      { id: '31', name: 'Semgrep JSON Report', category: 'STATIC', ...tool },
      { id: '32', name: 'ZAP Scan', category: 'DYNAMIC', ...tool },
      { id: '34', name: 'Manual Code Review', category: 'OTHER', ...tool },
    ]);
    expect(status).to.equal(200);
  });

  it('refuses a key that DefectDojo refuses', async () => {
    defectdojo()
      .get('/api/v2/products/')
      .query(true)
      .reply(401, { detail: 'Invalid token.' }, { 'www-authenticate': 'Token' });

    const { status, headers, body } = await read('projects');

    expect(body).to.include({ code: 'credential_rejected', upstream: 'defectdojo' });
    expect(headers.get('www-authenticate')).to.match(/^Bearer /);
    expect(status).to.equal(401);
  });

  it('takes the key nowhere when a link leads to another origin, http included', async () => {
    const next = 'http://defectdojo.example.com/api/v2/products/?limit=100&o=id&offset=100';
    defectdojo()
      .get('/api/v2/products/')
      .query(true)
      .reply(200, page(101, [product(1, 'One', '', null)], next, null));

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'upstream_invalid', upstream: 'defectdojo' });
    expect(status).to.equal(502);
  });
});
