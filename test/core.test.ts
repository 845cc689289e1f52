import { expect } from 'chai';
import { parseConfig } from '../src/config/load-config.ts';
import type { SettingsInput } from '../src/config/schema/settings.ts';
import { type Core, createCore } from '../src/core.ts';
import type { GatewayError } from '../src/kernel/errors.ts';
import type { Events } from '../src/observability/events.ts';
import { callerWith } from './support/caller.ts';
import { onCleanup } from './support/cleanup.ts';
import { json, listOf, lists, startHttpUpstream } from './support/http-upstream.ts';
import { toolItem } from './support/loads.ts';

function coreOf(settings: SettingsInput, events: Events = {}): Core {
  const core = createCore(parseConfig(settings), { events, now: Date.now });
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

  it('knows the values that settings name, and of no other field', () => {
    const each = { baseUrl: 'http://127.0.0.1:1' };
    const { catalogue } = coreOf({
      upstreams: { workflows: each, tools: each },
      resources: {
        workflows: {
          fields: {
            status: { from: 'on', default: 'UNKNOWN', values: { true: 'ACTIVE', yes: 'ACTIVE', false: 'OFF', '': '' } },
            triggerType: 'type',
          },
        },
      },
    });
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

  it('asks an upstream no more for any of its resources once it has refused the token', async () => {
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

  it('tells what it loads, and what it stores of it', async () => {
    const { url } = await startHttpUpstream(lists({ projects: [], tools: [toolItem('b')] }));
    const told: unknown[] = [];
    const core = coreOf(
      { upstreams: { projects: { baseUrl: url }, tools: { baseUrl: url } } },
      {
        listLoaded: ({ resource, upstream, items }) => told.push({ resource, upstream, items }),
        snapshotStored: ({ resource }) => told.push({ stored: resource }),
      },
    );
    await read(core, 'projects');
    await read(core, 'tools');
    expect(told).to.deep.equal([
      { resource: 'projects', upstream: 'projects', items: 0 },
      { resource: 'tools', upstream: 'tools', items: 1 },
      { stored: 'tools' },
    ]);
    expect(core.holdings.cache.entries).to.equal(1);
  });

  it('gives neither of two resources the list of the other, though one body feeds both', async () => {
    const body = {
      items: [
        { ...toolItem('a'), kind: 'w' },
        { ...toolItem('b'), kind: 't' },
      ],
    };
    const { url } = await startHttpUpstream(json(body));
    const of = (kind: string) => ({
      upstream: 'api',
      path: '/all',
      query: {},
      items: 'items',
      where: `kind == '${kind}'`,
    });
    const core = coreOf({
      upstreams: { api: { baseUrl: url } },
      resources: {
        projects: { ...of('w'), where: "kind == 'w'", fields: { createTime: "''" } },
        tools: of('t'),
        workflows: of('w'),
      },
    });
    for (const _time of [1, 2]) {
      const ids = await Promise.all(
        ['projects', 'workflows', 'tools'].map(async (name) => {
          const { snapshot } = await read(core, name, true);
          return JSON.parse(snapshot.bytes.toString()).map((item: { id: string }) => item.id);
        }),
      );
      expect(ids).to.deep.equal([['a'], ['a'], ['b']]);
    }
  });
});
