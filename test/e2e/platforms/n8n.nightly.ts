import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { installPlatform, type StartedPlatform, startPlatform } from '../../support/platform/installed.ts';
import { newFolder, runPortico, settingsFile } from '../../support/process/process.ts';
import { startServing } from '../../support/process/serving.ts';

/** Its store is a package that has to be compiled. */
const PACKAGE = { name: 'n8n', version: '2.39.7', scripts: ['sqlite3'] };
const COUNT = 123;
const TRIGGERS = {
  MANUAL: 'n8n-nodes-base.manualTrigger',
  SCHEDULED: 'n8n-nodes-base.scheduleTrigger',
  WEBHOOK: 'n8n-nodes-base.webhook',
};

const QUIET = {
  ...{ DB_TYPE: 'sqlite', GENERIC_TIMEZONE: 'UTC', N8N_SECURE_COOKIE: 'false', N8N_LISTEN_ADDRESS: '127.0.0.1' },
  ...{ N8N_HOST: '127.0.0.1', N8N_DIAGNOSTICS_ENABLED: 'false', N8N_VERSION_NOTIFICATIONS_ENABLED: 'false' },
  ...{ N8N_PERSONALIZATION_ENABLED: 'false', N8N_TEMPLATES_ENABLED: 'false', N8N_HIRING_BANNER_ENABLED: 'false' },
  ...{ N8N_COMMUNITY_PACKAGES_ENABLED: 'false', N8N_RUNNERS_ENABLED: 'false', EXECUTIONS_MODE: 'regular' },
  ...{ N8N_LICENSE_AUTO_RENEW_ENABLED: 'false', N8N_DISABLED_MODULES: 'insights' },
};

interface Workflow {
  readonly id: string;
  readonly name: string;
  readonly isArchived: boolean;
  readonly activeVersionId: string | null;
  readonly activeVersion: { readonly description: string | null } | null;
  readonly description?: string | null;
  readonly nodes: readonly { readonly type: string }[];
}

describe('n8n behind Portico', function () {
  this.timeout(600_000);
  let platform: StartedPlatform;
  let key = '';

  async function send(path: string, body: object, headers: Record<string, string>) {
    const response = await fetch(platform.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    expect(response.ok, `${path}: ${response.status} ${text}`).to.equal(true);
    return { headers: response.headers, body: JSON.parse(text) };
  }

  const api = (path: string, body: object) => send(`/api/v1${path}`, body, { 'x-n8n-api-key': key });

  /** Signs the owner in, and returns the cookie of the session and an API key. */
  async function becomeOwner(): Promise<{ cookie: string; key: string }> {
    const owner = { email: 'owner@example.com', firstName: 'Own', lastName: 'Er', password: 'Portico123x' };
    const { headers } = await send('/rest/owner/setup', owner, {});
    const cookie = headers
      .getSetCookie()
      .map((text) => text.split(';')[0])
      .join('; ');
    const scopes = ['workflow:list', 'workflow:create', 'workflow:read', 'workflow:activate'];
    const { body } = await send('/rest/api-keys', { label: 'test', expiresAt: null, scopes }, { cookie });
    return { cookie, key: body.data.rawApiKey };
  }

  async function createWorkflows(cookie: string): Promise<void> {
    const triggers = Object.values(TRIGGERS);
    for (let index = 0; index < COUNT; index += 1) {
      const type = triggers[index % triggers.length] as string;
      const webhook = { path: `hook-${index}`, httpMethod: 'GET' };
      const parameters = type === TRIGGERS.WEBHOOK ? webhook : {};
      const node = { id: 'start', name: 'Start', type, typeVersion: 1, position: [0, 0], parameters };
      const { body } = await api('/workflows', {
        ...{ name: `Workflow "${index}" – ü`, nodes: [node], connections: {}, settings: {} },
      });
      if (index % 30 === 2) await api(`/workflows/${body.id}/activate`, {});
      if (index % 40 === 3) await send(`/rest/workflows/${body.id}/archive`, {}, { cookie });
    }
  }

  before(async function () {
    const home = await installPlatform(this, PACKAGE);
    const folder = await newFolder();
    const args = ['--max-old-space-size=1024', join(home, 'bin/n8n'), 'start'];
    platform = await startPlatform(
      (port) => ({ args, env: { ...QUIET, N8N_USER_FOLDER: folder, N8N_PORT: String(port) } }),
      { cwd: folder, path: '/healthz/readiness', status: 200 },
    );
    const owner = await becomeOwner();
    key = owner.key;
    await createWorkflows(owner.cookie);
  });

  after(() => platform?.stop('SIGKILL'));

  /** The example; projects need a licence, and community packages are off. */
  async function example(workflows: object = {}) {
    const settings = parse(await readFile('config/examples/n8n.yaml', 'utf8'));
    const off = { enabled: false };
    Object.assign(settings.resources, { projects: off, tools: off });
    Object.assign(settings.resources.workflows, workflows);
    return settings;
  }

  /** As YAML, with a free port and no admin listener. */
  const textOf = (settings: object) =>
    stringify({ ...settings, http: { port: 0 }, admin: { enabled: false }, log: { level: 'info' } });

  /** What `check --probe` prints about the platform, and the code with which it ends. */
  async function probe(settings: object) {
    const file = await settingsFile(textOf(settings));
    const env = { N8N_URL: platform.url, PORTICO_TOKEN: key };
    const { code, stdout, stderr } = await runPortico(['check', '--probe', file], env).ended;
    return { code, printed: stdout + stderr };
  }

  /** Starts `portico serve`, and returns how to read from it. */
  async function serve(settings: object) {
    const { url } = await startServing(textOf(settings), { N8N_URL: platform.url });
    return async (name: string, token: string) => {
      const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return { status: response.status, body: await response.json() };
    };
  }

  /** Everything in the platform's own API, by pages of another size than those of the example. */
  async function own(): Promise<Workflow[]> {
    const all: Workflow[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const response: Response = await fetch(`${platform.url}/api/v1/workflows?limit=30&cursor=${cursor}`, {
        headers: { 'x-n8n-api-key': key },
      });
      const page = (await response.json()) as { data: Workflow[]; nextCursor: string | null };
      all.push(...page.data);
      cursor = page.nextCursor;
    }
    return all;
  }

  it("lists the same items as n8n's own API, over several pages", async () => {
    const read = await serve(await example());
    const all = await own();
    expect(all).to.have.length(COUNT);
    const kept = all.filter(({ isArchived }) => !isArchived);
    expect(kept.length).to.be.lessThan(COUNT);
    const active = kept.filter(({ activeVersionId }) => activeVersionId !== null);
    expect(active).not.to.have.length(0);
    const kindOf = new Map(Object.entries(TRIGGERS).map(([kind, type]) => [type, kind]));
    const { status, body } = await read('workflows', key);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.equal(
      kept.map(({ id, name, description, activeVersion, activeVersionId, nodes: [node] }) => ({
        ...{ id, name, description: (description || activeVersion?.description) ?? '' },
        triggerType: kindOf.get(node?.type ?? ''),
        status: activeVersionId === null ? 'INACTIVE' : 'ACTIVE',
      })),
    );
  });

  it('passes check --probe with the example, and fails with settings that read one page only', async () => {
    const right = await probe(await example());
    expect(right.code, right.printed).to.equal(0);
    const onePage = await example({ pagination: { kind: 'none' } });
    const wrong = await probe(onePage);
    expect(wrong.code, wrong.printed).to.equal(1);
    expect(wrong.printed).to.contain('upstream_invalid');
    expect(right.printed + wrong.printed).not.to.contain(key);
    const read = await serve(onePage);
    const { status, body } = await read('workflows', key);
    expect({ status, code: (body as { code: string }).code }).to.deep.equal({ status: 502, code: 'upstream_invalid' });
  });

  it('answers 401 to a token that it rejects, and serves the stale list once it was killed', async () => {
    const read = await serve(await example());
    expect(await read('workflows', 'made-up')).to.have.nested.property('body.code', 'credential_rejected');
    const before = await read('workflows', key);
    expect(before.status).to.equal(200);
    await platform.stop('SIGKILL');
    expect(await read('workflows', key)).to.deep.equal(before);
    expect(await read('workflows', 'another')).to.have.nested.property('body.code', 'upstream_failed');
  });
});
