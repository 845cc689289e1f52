import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const ORG = '583816e5-40ab-4212-8c7a-e54c8edd6b51';

const shuffle = () => nock('https://shuffler.io', { reqheaders: { authorization: `Bearer ${TOKEN}`, 'org-id': ORG } });

function workflow(id: string, triggers: readonly object[] | null, fields: object = {}) {
  return {
    actions: [],
    branches: null,
    triggers,
    schedules: null,
    id,
    is_valid: true,
    name: `Workflow ${id}`,
    description: '',
    start: '',
    owner: '',
    sharing: 'private',
    org_id: ORG,
    workflow_variables: null,
    previously_saved: true,
    public: false,
    status: 'test',
    ...fields,
  };
}

function app(name: string, fields: object = {}) {
  return {
    name,
    app_version: '1.1.0',
    id: `id-of-${name}`,
    is_valid: true,
    generated: false,
    activated: true,
    invalid: false,
    large_image: 'data:image/png;base64,iVBORw0KGgo=',
    actions: [{ name: 'run', description: '', parameters: [{ name: 'url', required: true, options: null }] }],
    tags: null,
    categories: null,
    created: 1_622_505_600,
    description: '',
    ...fields,
  };
}

describe('config/examples/shuffle.yaml', () => {
  const read = serveExample('shuffle', { SHUFFLE_ORG_ID: ORG });

  it('reads organisations as projects', async () => {
    shuffle()
      .get('/api/v1/orgs')
      .reply(200, [
        {
          name: 'Testing',
          description: 'Description',
          company_type: '',
          image: 'data:image/png;base64,iVBORw0KGgo=',
          id: ORG,
          org: 'new suborg',
          users: [],
          role: '',
          roles: ['admin', 'user'],
          active_apps: ['eb6b633ebbb77575ad17789eecf36cdf'],
          cloud_sync: false,
          invites: null,
          child_orgs: [],
          manager_orgs: null,
          creator_org: '',
          disabled: false,
        },
      ]);

    const { status, body } = await read('projects');

    expect(body).to.deep.equal([{ id: ORG, name: 'Testing', description: 'Description', createTime: '' }]);
    expect(status).to.equal(200);
  });

  it('reads workflows, those without a trigger as started by hand', async () => {
    const trigger = (type: string) => ({ app_name: type, trigger_type: type, name: type, status: 'running' });
    shuffle()
      .get('/api/v1/workflows')
      .reply(200, [
        workflow('a', null),
        workflow('b', []),
        workflow('c', [trigger('SCHEDULE'), trigger('WEBHOOK')], { description: 'Nightly', status: 'production' }),
        workflow('d', [trigger('WEBHOOK')], { status: '' }),
      ]);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      { id: 'a', name: 'Workflow a', description: '', triggerType: 'MANUAL', status: 'test' },
      { id: 'b', name: 'Workflow b', description: '', triggerType: 'MANUAL', status: 'test' },
      { id: 'c', name: 'Workflow c', description: 'Nightly', triggerType: 'SCHEDULED', status: 'production' },
      { id: 'd', name: 'Workflow d', description: '', triggerType: 'WEBHOOK', status: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads valid apps as tools, in a page of several megabytes', async () => {
    const picture = `data:image/png;base64,${'iVBORw0KGgo='.repeat(400_000)}`;
    shuffle()
      .get('/api/v1/apps')
      .reply(200, [
        app('Jira', { categories: ['Cases', 'Communication'], description: 'Tickets', large_image: picture }),
        app('http', { app_version: '1.4' }),
        app('broken', { is_valid: false }),
      ]);

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      { id: 'id-of-Jira', name: 'Jira', version: '1.1.0', category: 'Cases, Communication', description: 'Tickets' },
      { id: 'id-of-http', name: 'http', version: '1.4.0', category: '', description: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    shuffle().get('/api/v1/workflows').reply(200, []);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('refuses a key that Shuffle refuses, and reads no list out of a failure with status 200', async () => {
    shuffle().get('/api/v1/apps').reply(200, { success: false, reason: 'Failed getting apps' });

    const failed = await read('tools');

    expect(failed.body).to.include({ code: 'upstream_invalid', upstream: 'shuffle' });
    expect(failed.status).to.equal(502);

    shuffle().get('/api/v1/orgs').reply(401, { success: false });

    const refused = await read('projects');

    expect(refused.body).to.include({ code: 'credential_rejected', upstream: 'shuffle' });
    expect(refused.status).to.equal(401);
  });
});
