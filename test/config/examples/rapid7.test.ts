import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const API = 'https://eu.api.insight.rapid7.com';

const rapid7 = () => nock(API, { reqheaders: { 'x-api-key': TOKEN }, badheaders: ['authorization'] });

/** The nth of many UUIDs. */
const uuid = (number: number) => `0b854d99-ee5d-4e98-b3b2-${String(number).padStart(12, '0')}`;

interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Page `index`, from 0, of what an InsightAppSec list at `path` answers. */
function envelope(path: string, all: readonly Item[], index: number) {
  const last = Math.ceil(all.length / 100) - 1;
  const to = (rel: string, page: number) => ({ rel, href: `${API}:443${path}?index=${page}&size=100` });
  return {
    data: all.slice(index * 100, index * 100 + 100).map((item) => ({
      ...item,
      links: [{ rel: 'self', href: `${API}:443${path}/${item.id}` }],
    })),
    metadata: { index, size: 100, sort: '', total_data: all.length, total_pages: last + 1 },
    links: [to('first', 0), to('self', index), ...(index < last ? [to('next', index + 1)] : []), to('last', last)],
  };
}

function serve(path: string, all: readonly Item[], index = 0) {
  rapid7()
    .get(path)
    .query({ index: String(index), size: '100' })
    .reply(200, envelope(path, all, index));
}

function version(name: string, summary: string) {
  const byJane = (what: string) => ({
    [`${what}At`]: '2022-06-15T16:08:08.254416Z',
    [`${what}ById`]: '248855d2-d2e1-4616-8f7a-dcb992888e33',
    [`${what}ByName`]: 'Jane Doe',
  });
  return { ...byJane('activated'), ...byJane('created'), ...byJane('updated'), name, summary, tags: ['phishing'] };
}

function workflow(number: number, state: string, published: object | null, unpublished: object | null) {
  return {
    workflowId: uuid(number),
    rrn: `rrn:icon:eu:6b8e39cb-3ed2-42bf-8e62-c38b433cb317:workflow:${uuid(number)}`,
    state,
    publishedVersion: published,
    unpublishedVersion: unpublished,
  };
}

describe('config/examples/rapid7.yaml', () => {
  const read = serveExample('rapid7', { RAPID7_REGION: 'eu' });

  it('reads apps as projects, in pages that are numbered from 0', async () => {
    const apps = Array.from({ length: 205 }, (_, number) => ({
      id: uuid(number),
      name: `app-${number}.example.com`,
      ...(number > 0 && { description: `App ${number}` }),
    }));
    for (const index of [0, 1, 2]) serve('/ias/v1/apps', apps, index);

    const { status, body } = await read('projects');

    expect(body).to.deep.equal(apps.map((app) => ({ description: '', ...app, createTime: '' })));
    expect(status).to.equal(200);
  });

  it('reads published workflows by offset, and no draft', async () => {
    const all = Array.from({ length: 65 }, (_, number) =>
      workflow(number, 'active', version(`Workflow ${number}`, `Summary ${number}`), null),
    );
    all[1] = workflow(1, 'inactive', version('Phishing triage', ''), version('Phishing triage v2', 'Better'));
    all[40] = workflow(40, 'inactive', null, version('Draft', 'Never published'));
    for (const offset of [0, 30, 60]) {
      rapid7()
        .get('/connect/v2/workflows')
        .query({ limit: '30', offset: String(offset) })
        .reply(200, {
          data: { meta: { limit: 30, offset, total: all.length }, workflows: all.slice(offset, offset + 30) },
        });
    }

    const { status, body } = await read('workflows');

    const expected = all.map((_, number) => ({
      id: uuid(number),
      name: `Workflow ${number}`,
      description: `Summary ${number}`,
      triggerType: '',
      status: 'ACTIVE',
    }));
    expected[1] = { id: uuid(1), name: 'Phishing triage', description: '', triggerType: '', status: 'INACTIVE' };
    expect(body).to.deep.equal(expected.filter(({ id }) => id !== uuid(40)));
    expect(status).to.equal(200);
  });

  it('reads engines as tools, without those that come and go', async () => {
    const engine = {
      engine_group: { id: uuid(90), name: 'DMZ' },
      latest_version: true,
      upgradeable: true,
      auto_upgrade: true,
    };
    serve('/ias/v1/engines', [
      { ...engine, id: uuid(1), name: 'dmz-1', status: 'IDLE' },
      {
        ...engine,
        id: uuid(2),
        name: 'dmz-2',
        status: 'FAILED',
        failure_reason: 'UPGRADE_FAILED',
        latest_version: false,
      },
      { ...engine, id: uuid(3), name: 'dmz-3', status: 'TERMINATING' },
      { ...engine, id: uuid(4), name: 'dmz-4', status: 'INITIALIZING' },
      { ...engine, id: uuid(5), name: 'office', status: 'SCANNING' },
    ]);

    const { status, body } = await read('tools');

    const tool = { version: '', category: 'SCAN_ENGINE' };
    expect(body).to.deep.equal([
      { id: uuid(1), name: 'dmz-1', ...tool, description: 'IDLE' },
      { id: uuid(2), name: 'dmz-2', ...tool, description: 'FAILED: UPGRADE_FAILED' },
      { id: uuid(5), name: 'office', ...tool, description: 'SCANNING' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    serve('/ias/v1/engines', []);

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('refuses a key that Rapid7 refuses', async () => {
    rapid7().get('/ias/v1/apps').query(true).reply(401, { message: 'Unauthorized' });

    const { status, body } = await read('projects');

    expect(body).to.include({ code: 'credential_rejected', upstream: 'rapid7' });
    expect(status).to.equal(401);
  });

  it('says no rather than give fewer workflows than there are', async () => {
    const page = (offset: number, count: number) => ({
      data: {
        meta: { limit: 30, offset, total: 45 },
        workflows: Array.from({ length: count }, (_, number) =>
          workflow(offset + number, 'active', version('Workflow', ''), null),
        ),
      },
    });
    rapid7()
      .get('/connect/v2/workflows')
      .query({ limit: '30', offset: '0' })
      .reply(200, page(0, 30))
      .get('/connect/v2/workflows')
      .query({ limit: '30', offset: '30' })
      .reply(200, page(30, 14));

    const { status, body } = await read('workflows');

    expect(body).to.include({ code: 'upstream_invalid', upstream: 'rapid7' });
    expect(status).to.equal(502);
  });
});
