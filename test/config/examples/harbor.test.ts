import { expect } from 'chai';
import nock from 'nock';
import { TOKEN } from '../../support/gateway.ts';
import { serveExample } from '../../support/process/example.ts';

const SERVER = 'https://harbor.example.com';

const harbor = () => nock(SERVER, { reqheaders: { authorization: `Basic ${TOKEN}` } });

/** Page `number`, from 1, of what the list at `path` answers, with the headers that tell its paging. */
function serve(path: string, query: Record<string, string>, all: readonly object[], number = 1) {
  const target = `/api/v2.0${path}`;
  const last = Math.max(1, Math.ceil(all.length / 100));
  const link = (page: number, rel: string) => `<${target}?page=${page}&page_size=100>; rel="${rel}"`;
  const links = [
    ...(number > 1 ? [link(number - 1, 'prev')] : []),
    ...(number < last ? [link(number + 1, 'next')] : []),
  ];
  harbor()
    .get(target)
    .query({ ...query, page_size: '100', page: String(number) })
    .reply(200, all.slice((number - 1) * 100, number * 100), {
      'x-total-count': String(all.length),
      ...(links.length > 0 && { link: links.join(' , ') }),
    });
}

const PROJECTS = { with_detail: 'false', sort: 'creation_time' };
const POLICIES = { sort: 'creation_time' };
const SCANNERS = { sort: 'create_time' };

describe('config/examples/harbor.yaml', () => {
  const read = serveExample('harbor', { HARBOR_URL: SERVER });

  it('reads projects over as many pages as X-Total-Count makes', async () => {
    const all = Array.from({ length: 205 }, (_, number) => ({
      project_id: number + 1,
      name: `library-${number}`,
      owner_id: 1,
      owner_name: 'admin',
      creation_time: '2025-11-04T06:29:01.000Z',
      update_time: '2025-11-04T06:29:01.000Z',
      metadata: { public: number === 0 ? 'true' : 'false' },
      repo_count: 0,
      cve_allowlist: { id: number + 1, items: [], project_id: number + 1 },
    }));
    for (const page of [1, 2, 3]) serve('/projects', PROJECTS, all, page);

    const { status, body } = await read('projects');

    expect(body).to.deep.equal(
      all.map(({ project_id: id, name }, number) => ({
        id: String(id),
        name,
        description: number === 0 ? 'public' : 'private',
        createTime: '2025-11-04T06:29:01.000Z',
      })),
    );
    expect(status).to.equal(200);
  });

  it('reads replication policies as workflows, without a word on the disabled ones', async () => {
    const policy = {
      id: 7,
      name: 'to-dr-site',
      description: 'Everything, every night',
      creation_time: '2025-11-04T06:29:01.000Z',
      update_time: '2025-11-04T06:29:01.000Z',
      dest_registry: { id: 2, name: 'dr', type: 'harbor', url: 'https://dr.example.com', status: 'healthy' },
      src_registry: null,
      filters: null,
      override: true,
      speed: -1,
      enabled: true,
      trigger: { type: 'scheduled', trigger_settings: { cron: '0 0 2 * * *' } },
    };
    const { description, enabled, ...bare } = policy;
    serve('/replication/policies', POLICIES, [
      policy,
      { ...bare, id: 8, name: 'by-hand', enabled, trigger: { type: 'manual', trigger_settings: {} } },
      { ...bare, id: 9, name: 'on-push', trigger: { type: 'event_based', trigger_settings: {} } },
      { ...bare, id: 10, name: 'unfinished', trigger: null },
    ]);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([
      { id: '7', name: 'to-dr-site', description, triggerType: 'SCHEDULED', status: 'ACTIVE' },
      { id: '8', name: 'by-hand', description: '', triggerType: 'MANUAL', status: 'ACTIVE' },
      { id: '9', name: 'on-push', description: '', triggerType: 'EVENT', status: 'DISABLED' },
      { id: '10', name: 'unfinished', description: '', triggerType: '', status: 'DISABLED' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads scanners as tools, with their versions', async () => {
    const scanner = {
      uuid: '1e8f0a44-b944-11f0-8d9c-0242ac120009',
      name: 'Trivy',
      description: 'The Trivy scanner adapter',
      url: 'http://trivy-adapter:8080',
      disabled: false,
      is_default: true,
      health: 'healthy',
      auth: '',
      access_credential: '',
      skip_certVerify: false,
      use_internal_addr: true,
      adapter: 'Trivy',
      vendor: 'Aqua Security',
      version: 'v0.69.3',
      create_time: '2025-11-04T06:29:02.123Z',
      update_time: '2025-11-04T06:29:02.123Z',
    };
    const { adapter, vendor, version, health, ...unreachable } = scanner;
    serve('/scanners', SCANNERS, [
      scanner,
      { ...unreachable, uuid: 'a1', name: 'Other', description: '', is_default: false },
      { ...scanner, uuid: 'a2', name: 'Retired', disabled: true },
    ]);

    const { status, body } = await read('tools');

    expect(body).to.deep.equal([
      {
        id: scanner.uuid,
        name: 'Trivy',
        version: '0.69.3',
        category: 'SCANNER',
        description: 'The Trivy scanner adapter',
      },
      { id: 'a1', name: 'Other', version: '', category: 'SCANNER', description: '' },
    ]);
    expect(status).to.equal(200);
  });

  it('reads an empty list as an empty one', async () => {
    serve('/replication/policies', POLICIES, []);

    const { status, body } = await read('workflows');

    expect(body).to.deep.equal([]);
    expect(status).to.equal(200);
  });

  it('refuses what Harbor refuses, and denies scanners to those whom it denies them', async () => {
    const error = (code: string, message: string) => ({ errors: [{ code, message }] });
    harbor().get('/api/v2.0/scanners').query(true).reply(403, error('FORBIDDEN', 'forbidden'));

    const denied = await read('tools');

    expect(denied.body).to.include({ code: 'access_denied', upstream: 'harbor' });
    expect(denied.status).to.equal(403);

    harbor().get('/api/v2.0/projects').query(true).reply(401, error('UNAUTHORIZED', 'unauthorized'));

    const refused = await read('projects');

    expect(refused.body).to.include({ code: 'credential_rejected', upstream: 'harbor' });
    expect(refused.status).to.equal(401);
  });
});
