import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const SERVER = 'https://n8n.example.com';
const TIMES = { createdAt: '2026-03-02T08:15:30.123Z', updatedAt: '2026-03-09T10:00:00.000Z' };

const n8n = () => nock(SERVER, { reqheaders: { 'x-n8n-api-key': TOKEN }, badheaders: ['authorization'] });

function project(number: number) {
  return {
    id: `VmwOO9HeTEj2${number}`,
    name: `Project ${number}`,
    type: number === 0 ? 'personal' : 'team',
    icon: number === 0 ? null : { type: 'icon', value: 'layers' },
    description: number === 0 ? null : `About ${number}`,
    customTelemetryTags: [],
    creatorId: null,
    ...TIMES,
  };
}

function node(type: string, fields: object = {}) {
  return { id: '0f5532f9-36ba-4bef-86c7-30d607400b15', name: type, type, typeVersion: 1, position: [0, 0], ...fields };
}

function workflow(id: string, nodes: readonly object[], fields: object = {}) {
  return {
    id,
    name: `Workflow ${id}`,
    active: true,
    activeVersionId: `version-${id}`,
    ...TIMES,
    isArchived: false,
    versionId: `version-${id}`,
    triggerCount: 1,
    nodes: [node('n8n-nodes-base.jira'), ...nodes],
    connections: {},
    nodeGroups: [],
    settings: { executionOrder: 'v1' },
    staticData: null,
    meta: null,
    tags: [],
    shared: [],
    activeVersion: { versionId: `version-${id}`, workflowId: id, name: null, description: `What ${id} does` },
    ...fields,
  };
}

const WORKFLOWS = { excludePinnedData: 'true', limit: '50' };

describe('config/examples/n8n.yaml', () => {
  const read = serveExample('n8n', { N8N_URL: SERVER });

  it('reads projects from cursor to cursor', async () => {
    const all = Array.from({ length: 502 }, (_, number) => project(number));
    const cursors = [undefined, 'eyJvZmZzZXQiOjI1MCwibGltaXQiOjI1MH0=', 'eyJvZmZzZXQiOjUwMCwibGltaXQiOjI1MH0='];
    cursors.forEach((cursor, page) => {
      n8n()
        .get('/api/v1/projects')
        .query({ limit: '250', ...(cursor !== undefined && { cursor }) })
        .reply(200, { data: all.slice(page * 250, page * 250 + 250), nextCursor: cursors[page + 1] ?? null });
    });

    const { status, body } = await read('projects');

    expect(body).to.deep.equal(
      all.map(({ id, name, description, createdAt }) => ({
        id,
        name,
        description: description ?? '',
        createTime: createdAt,
      })),
    );
    expect(status).to.equal(200);
  });

  it('reads workflows, and by their nodes what starts them', async () => {
    const manual = node('n8n-nodes-base.manualTrigger');
    const schedule = node('n8n-nodes-base.scheduleTrigger');
    n8n()
      .get('/api/v1/workflows')
      .query(WORKFLOWS)
      .reply(200, {
        data: [
          workflow('a', [manual]),
          workflow('b', [manual, schedule]),
          workflow('c', [node('n8n-nodes-base.webhook'), manual], { active: false, activeVersionId: null }),
          workflow('d', [node('n8n-nodes-base.gmailTrigger')], { activeVersion: null }),
        ],
        nextCursor: 'eyJvZmZzZXQiOjUwfQ==',
      })
      .get('/api/v1/workflows')
      .query({ ...WORKFLOWS, cursor: 'eyJvZmZzZXQiOjUwfQ==' })
      .reply(200, {
        data: [
          workflow('e', [node('n8n-nodes-base.scheduleTrigger', { disabled: true }), manual]),
          workflow('f', []),
          workflow('g', [schedule], { isArchived: true }),
          // As servers told it before versions could be active.
          { id: 'h', name: 'Old', active: true, nodes: [schedule], description: 'An old one', ...TIMES },
        ],
        nextCursor: null,
      });

    const { status, body } = await read('workflows');

    const each = (id: string, triggerType: string, fields: object = {}) => ({
      id,
      name: `Workflow ${id}`,
      description: `What ${id} does`,
      triggerType,
      status: 'ACTIVE',
      ...fields,
    });
    expect(body).to.deep.equal([
      each('a', 'MANUAL'),
      each('b', 'SCHEDULED'),
      each('c', 'WEBHOOK', { status: 'INACTIVE' }),
      each('d', 'n8n-nodes-base.gmailTrigger', { description: '' }),
      each('e', 'MANUAL'),
      each('f', ''),
      each('h', 'SCHEDULED', { name: 'Old', description: 'An old one' }),
    ]);
    expect(status).to.equal(200);
  });

  it('reads community packages as tools, in one page', async () => {
    n8n()
      .get('/api/v1/community-packages')
      .reply(200, [
        {
          packageName: 'n8n-nodes-virustotal',
          installedVersion: '1.4.2',
          authorName: 'Jane Doe',
          authorEmail: 'jane@example.com',
          installedNodes: [
            { name: 'VirusTotal', type: 'n8n-nodes-virustotal.virusTotal', latestVersion: 1 },
            { name: 'VirusTotal Trigger', type: 'n8n-nodes-virustotal.virusTotalTrigger', latestVersion: 1 },
          ],
          ...TIMES,
          updateAvailable: '1.5.0',
        },
        { packageName: '@acme/n8n-nodes-soc', installedVersion: '0.9.0-rc.1', installedNodes: [], ...TIMES },
      ]);

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      {
        id: 'n8n-nodes-virustotal',
        name: 'n8n-nodes-virustotal',
        version: '1.4.2',
        category: 'COMMUNITY_PACKAGE',
        description: 'VirusTotal, VirusTotal Trigger',
      },
      {
        id: '@acme/n8n-nodes-soc',
        name: '@acme/n8n-nodes-soc',
        version: '0.9.0-rc.1',
        category: 'COMMUNITY_PACKAGE',
        description: '',
      },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    n8n().get('/api/v1/workflows').query(WORKFLOWS).reply(200, { data: [], nextCursor: null });

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('refuses a key that n8n refuses, and denies projects where it does', async () => {
    n8n().get('/api/v1/projects').query(true).reply(403, { message: 'Forbidden' });

    const denied = await read('projects');

    expect(denied.body).to.include({ code: 'access_denied', upstream: 'n8n' });
    expect(denied.status).to.equal(403);

    n8n().get('/api/v1/community-packages').reply(401, { message: 'unauthorized' });

    const refused = await read('tools');

    expect(refused.body).to.include({ code: 'credential_rejected', upstream: 'n8n' });
    expect(refused.status).to.equal(401);
  });
});
