import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createDeploymentSecret } from '../../src/capabilities/shared-cache/deployment-secret.ts';
import { createSharedSnapshots } from '../../src/capabilities/shared-cache/shared-snapshots.ts';
import { type Core, createCore } from '../../src/core/core.ts';
import { NO_HOOKS } from '../../src/core/hooks.ts';
import { Credential } from '../../src/core/kernel/caller.ts';
import type { GatewayError } from '../../src/core/kernel/errors.ts';
import type { Events } from '../../src/core/kernel/events.ts';
import { namesInCache } from '../../src/core/reload-state.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { shareNothing } from '../../src/core/sharing.ts';
import { NO_CONFIRMATION } from '../../src/core/upstream/paging/list-confirmation.ts';
import { callerWith } from '../support/authorization/caller.ts';
import { onCleanup } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { createMemoryRedis } from '../support/fleet/memory-redis.ts';
import { configOf, type TestSettings } from '../support/limits.ts';
import { json, listOf, lists, startHttpUpstream } from '../support/platform/http-upstream.ts';
import { toolItem } from '../support/platform/loads.ts';

function coreOf(settings: TestSettings, events: Events = {}): Core {
  const core = createCore(configOf(settings), { events, now: Date.now });
  onCleanup(core.close);
  return core;
}

const read = async ({ catalogue }: Core, name: string, noCache = false) =>
  catalogue.read(name, callerWith(), { signal: new AbortController().signal, noCache });

describe('the core', () => {
  it('opens the upstreams of what is offered, each once', () => {
    const each = { baseUrl: 'http://127.0.0.1:1' };
    const { upstreams, catalogue } = coreOf({
      upstreams: { api: each, workflows: each },
      resources: { projects: { upstream: 'api' }, tools: { upstream: 'api' }, workflows: { enabled: false } },
    });
    expect([...upstreams.keys()]).to.deep.equal(['api']);
    expect(catalogue.offered.map(({ resource }) => resource.name)).to.deep.equal(['projects', 'tools']);
  });

  it('has the values that settings name, and those of no other field', () => {
    const each = { baseUrl: 'http://127.0.0.1:1' };
    const values = { true: 'ACTIVE', yes: 'ACTIVE', false: 'OFF', '': '' };
    const fields = { status: { from: 'on', default: 'UNKNOWN', values }, triggerType: 'type' };
    const { catalogue } = coreOf({ upstreams: { workflows: each, tools: each }, resources: { workflows: { fields } } });
    expect(catalogue.offered.map(({ known }) => known)).to.deep.equal([{ status: ['ACTIVE', 'OFF', 'UNKNOWN'] }, {}]);
  });

  it('takes a 401 for the resources of that upstream, and leaves those of another', async () => {
    const all = lists({ workflows: [toolItem('a')], tools: [toolItem('b')] });
    const one = await startHttpUpstream((request, response) =>
      (listOf(request) === 'projects' ? json({}, 401) : all)(request, response),
    );
    const other = await startHttpUpstream(all);
    const evicted: unknown[] = [];
    const core = coreOf(
      {
        upstreams: { one: { baseUrl: one.url, rememberRejectedMs: 0 }, other: { baseUrl: other.url } },
        resources: { projects: { upstream: 'one' }, workflows: { upstream: 'one' }, tools: { upstream: 'other' } },
      },
      { snapshotEvicted: ({ resource }) => evicted.push(resource) },
    );
    await read(core, 'workflows');
    await read(core, 'tools');
    const error = await read(core, 'projects').catch((rejected: GatewayError) => rejected);
    expect(error).to.include({ code: 'credential_rejected', upstream: 'one' });
    expect(evicted).to.deep.equal(['projects', 'workflows']);
    expect((await read(core, 'tools')).cached).not.to.have.property('forwarded');
    expect((await read(core, 'workflows')).cached).to.include({ forwarded: 'miss' });
  });

  it('calls an upstream no more for any of its resources once it has rejected the token', async () => {
    const { url, requests } = await startHttpUpstream(json({}, 401));
    const core = coreOf({
      upstreams: { api: { baseUrl: url } },
      resources: { projects: { upstream: 'api' }, tools: { upstream: 'api' } },
    });
    for (const name of ['projects', 'tools']) {
      const error = await read(core, name).catch((rejected: GatewayError) => rejected);
      expect(error).to.include({ code: 'credential_rejected' });
    }
    expect(requests).to.have.length(1);
  });

  it('confirms each list that it joins, also two of one path', () => {
    const opened: string[] = [];
    const openConfirmation = (list: string) => {
      opened.push(list);
      return NO_CONFIRMATION;
    };
    const lists = ['playbook', 'automation'].map((kind) => ({ path: '/items', query: { kind } }));
    const config = configOf({
      upstreams: { tools: { baseUrl: 'http://127.0.0.1:9' } },
      resources: { tools: { lists } },
    });
    onCleanup(createCore(config, { events: {}, now: Date.now, hooks: { ...NO_HOOKS, openConfirmation } }).close);
    expect(new Set(opened)).to.have.lengthOf(2);
  });

  it('keeps none of the cores before it in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const config = configOf({ upstreams: { tools: { baseUrl: 'http://127.0.0.1:9' } } });
    const open = (before?: Core) => createCore(config, { events: {}, now: Date.now, before });
    const first = new WeakRef(open());
    let core = open(first.deref());
    await first.deref()?.retire(core);
    const next = open(core);
    await core.retire(next);
    core = next;
    onCleanup(core.close);
    await new Promise(setImmediate);
    collect();
    expect(first.deref()).to.equal(undefined);
  });

  it('gives neither of two resources the list of the other, though one body feeds both', async () => {
    const items = [
      { ...toolItem('a'), kind: 'w' },
      { ...toolItem('b'), kind: 't' },
    ];
    const { url } = await startHttpUpstream(json({ items }));
    const all = { upstream: 'api', path: '/all', query: {}, items: 'items' };
    const of = (kind: string) => ({ ...all, where: `kind == '${kind}'` });
    const projects = { ...of('w'), fields: { createTime: "''" } };
    const resources = { projects, tools: of('t'), workflows: of('w') };
    const core = coreOf({ upstreams: { api: { baseUrl: url } }, resources });
    const idsOf = async (name: string) => {
      const { snapshot } = await read(core, name, true);
      return JSON.parse(snapshot.bytes.toString()).map((item: { id: string }) => item.id);
    };
    for (const _time of [1, 2]) {
      const ids = await Promise.all(['projects', 'workflows', 'tools'].map(idsOf));
      expect(ids).to.deep.equal([['a'], ['a'], ['b']]);
    }
  });
});

describe('cores of one deployment', () => {
  const secret = createDeploymentSecret(new Credential('the secret of all replicas of it'));

  function deployment() {
    const redis = createMemoryRedis(Date.now);
    const puts: string[] = [];
    const events: Events = { sharedPut: ({ outcome }) => puts.push(outcome) };
    const snapshots = () => {
      const connection = redis.connect();
      const snapshots = createSharedSnapshots({
        ...{ redis: connection, secret, events, now: Date.now, prefix: 'p', channel: 'c', maxValueBytes: 100_000 },
      });
      connection.listen(snapshots);
      return snapshots.store;
    };
    const open = (settings: TestSettings, before?: Core) => {
      const sharing = { ...shareNothing(), keyOf: secret.keyOf, snapshots: snapshots() };
      const hooks = { ...NO_HOOKS, sharing };
      const core = createCore(configOf(settings), { events, now: Date.now, hooks, before });
      onCleanup(core.close);
      return core;
    };
    return { redis, puts, open };
  }

  async function platform() {
    const { url, requests } = await startHttpUpstream(lists({ tools: [toolItem('a')] }));
    const settings = (tools: object = {}, upstream: object = {}): TestSettings => ({
      upstreams: { api: { baseUrl: url, ...upstream } },
      resources: { projects: { enabled: false }, workflows: { enabled: false }, tools: { upstream: 'api', ...tools } },
    });
    return { settings, requests };
  }

  it('take nothing of each other where one reads in another way', async () => {
    const { settings, requests } = await platform();
    const { open, puts } = deployment();
    await read(open(settings()), 'tools');
    await eventually(() => puts.length === 1);
    const others = [settings({ query: { other: 'true' } }), settings({}, { headers: { 'X-Tenant': 'other' } })];
    for (const other of others) expect(await read(open(other), 'tools')).to.not.have.property('fromSharedCache');
    expect(requests).to.have.length(3);
  });

  it('identify a caller by both credentials if it sends a separate one for a platform', async () => {
    const { settings, requests } = await platform();
    const { open, puts } = deployment();
    const bringing = settings({}, { credential: { kind: 'header', name: 'X-Api-Key', from: 'X-Api-Key' } });
    const [one, other] = [open(bringing), open(bringing)];
    const readBringing = (core: Core, token: string, key: string) => {
      const headerCredentials = new Map([['x-api-key', [new Credential(key)]]]);
      return core.catalogue.read('tools', callerWith(token, { headerCredentials }), {
        signal: new AbortController().signal,
      });
    };
    await readBringing(one, 'token', 'key');
    await eventually(() => puts.length === 1);
    expect(await readBringing(other, 'token', 'key')).to.include({ fromSharedCache: true });
    for (const [token, key] of [
      ['token', 'other-key'],
      ['other-token', 'key'],
    ] as const) {
      expect(await readBringing(other, token, key)).to.not.have.property('fromSharedCache');
    }
    expect(requests).to.have.length(3);
  });

  it('receive evictions after a change of settings, also of what was held before it', async () => {
    const { settings } = await platform();
    const { open, puts } = deployment();
    const [one, before] = [open(settings()), open(settings())];
    await read(one, 'tools');
    await eventually(() => puts.length === 1);
    await read(before, 'tools');
    const after = open(settings({ cache: { ttlMs: 30_000 } }), before);
    await before.retire(after);
    const { cache } = after.reloadState;
    const name = namesInCache(RESOURCES, after.config).get('tools') ?? '';
    expect(cache.lastOwnLoadAt(name, callerWith())).to.be.above(0);
    one.reloadState.store.evict(String(one.config.upstreams['api']?.baseUrl), ['tools'], callerWith());
    await eventually(() => cache.lastOwnLoadAt(name, callerWith()) === Number.NEGATIVE_INFINITY);
  });
});
