import { expect } from 'chai';
import { ENVELOPE } from '../../core/mcp/asked.ts';
import { AUDIENCE, startIssuer, type TestIssuer } from '../../support/authorization/issuer.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { RPC_FIELDS, rpc } from '../../support/rpc.ts';

const TOOL_NAMES: Readonly<Record<string, string>> = {
  list_projects: 'projects',
  list_installed_workflows: 'workflows',
  list_installed_tools: 'tools',
};
const HOUR = 3_600_000;

/** Each resource requires a scope of its own, and projects two. */
const REQUIRED = { projects: ['projects:read', 'all:see'], workflows: ['workflows:read'], tools: ['tools:read'] };
const NAMES = Object.keys(REQUIRED);

const SUBSETS = Array.from({ length: 8 }, (_, bits) => NAMES.filter((_name, index) => bits & (1 << index)));

describe('lists over MCP', () => {
  let issuer: TestIssuer;
  let platformUrl: string;

  before(async () => {
    const item = [toolItem('a')];
    issuer = await startIssuer();
    platformUrl = (await startHttpUpstream(lists({ projects: item, workflows: item, tools: item }))).url;
  });

  function settingsOf(rest: Partial<TestSettings> = {}, required: Partial<typeof REQUIRED> = REQUIRED): TestSettings {
    const scoped = Object.entries(required).map(([name, requiredScopes]) => [name, { requiredScopes }]);
    return settingsFor(platformUrl, {
      upstream: { credential: { kind: 'none' } },
      verification: { issuer: issuer.issuer, audience: AUDIENCE },
      resources: Object.fromEntries(scoped),
      ...rest,
    });
  }

  async function headersFor(names: readonly string[]) {
    // Of others, all scopes but one.
    const scope = NAMES.flatMap((name) =>
      REQUIRED[name as keyof typeof REQUIRED].slice(names.includes(name) ? 0 : 1),
    ).join(' ');
    return { authorization: `Bearer ${await issuer.token({ scope })}` };
  }

  type Sent = Readonly<Record<string, string>>;
  type Running = Pick<RunningGateway, 'url'>;

  /** Sends a request of an earlier revision, and gives its result. */
  async function earlier({ url }: Running, method: string, headers: Sent, params = {}) {
    const body = JSON.stringify(rpc(method, params));
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers: { ...RPC_FIELDS, ...headers }, body });
    return JSON.parse(await response.text()).result;
  }

  const current = (running: Running, method: string, headers: Sent) =>
    earlier(
      running,
      method,
      { ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      { _meta: ENVELOPE },
    );

  /** Names of the resources that each list has. */
  async function listed(running: Running, headers: Sent) {
    const answers = [
      await earlier(running, 'resources/list', headers),
      await earlier(running, 'tools/list', headers),
      await current(running, 'resources/list', headers),
      await current(running, 'tools/list', headers),
    ];
    return answers.map(({ resources, tools }) =>
      (resources ?? tools).map(({ name }: { name: string }) => (resources ? name : TOOL_NAMES[name])),
    );
  }

  it('have what the scopes of a token allow to read, for callers in turn, and no other', async () => {
    const running = await startGateway(settingsOf());
    for (const subset of [...SUBSETS, ...SUBSETS.toReversed()]) {
      const headers = await headersFor(subset);
      expect(await listed(running, headers)).to.deep.equal([subset, subset, subset, subset]);
      const readable: string[] = [];
      for (const name of NAMES) if ((await running.read(name, { headers })).status === 200) readable.push(name);
      expect(readable).to.deep.equal(subset);
    }
  });

  it('are asked for again by clients where they depend on a token, and no change of them is announced', async () => {
    const scoped = await startGateway(settingsOf());
    const plain = await startGateway(settingsOf({}, {}));
    const headers = await headersFor(['tools']);
    for (const [running, ttlMs] of [
      [scoped, 0],
      [plain, HOUR],
    ] as const) {
      for (const method of ['resources/list', 'tools/list'])
        expect(await current(running, method, headers), method).to.include({ ttlMs, cacheScope: 'private' });
      const { capabilities } = await current(running, 'server/discover', headers);
      expect(JSON.stringify(capabilities)).to.not.contain('listChanged');
    }
  });
});
