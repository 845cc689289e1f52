import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import type { Watcher } from '../../../src/capabilities/live-lists/list-polls.ts';
import { createWatch } from '../../../src/capabilities/live-lists/live-lists.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { limitsWith } from '../../../src/core/kernel/limits.ts';
import { CLIENT, ENVELOPE } from '../../core/mcp/asked.ts';
import { connectStdio } from '../../core/mcp/connected.ts';
import { callerWith, TOKEN } from '../../support/authorization/caller.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { MAIN, newFolder, writeSettings } from '../../support/process/process.ts';

const TOOLS = 'platform://tools';
const WORKFLOWS = 'platform://workflows';

/** A connection whose other end, and whose changes, are the test's. */
function connect({ expiresAt }: { readonly expiresAt?: number } = {}) {
  const watchers = new Map<string, Watcher>();
  const { subscriptions: bounds } = limitsWith({ subscriptions: { maxMs: 1, maxPerCaller: 2 } });
  const polls = {
    join(resource: string, _request: unknown, watcher: Watcher) {
      watchers.set(resource, watcher);
      return { ready: Promise.resolve(), leave: () => void watchers.delete(resource) };
    },
  };
  const watch = createWatch({ bounds, polls, maxConnections: () => 10_000, events: {}, now: Date.now });
  const { answers: messages, write, ...rest } = connectStdio({}, { watch, caller: callerWith(TOKEN, { expiresAt }) });
  return {
    ...rest,
    messages,
    write,
    watchers,
    change: (resource: string) => watchers.get(resource)?.changed(resource, 'W/"1"'),
    updates: () => messages().flatMap(({ method, params }) => (method?.endsWith('updated') ? [params] : [])),
    listen: (id: string, uris: readonly string[]) =>
      write({
        ...{ jsonrpc: '2.0', id, method: 'subscriptions/listen' },
        params: { notifications: { resourceSubscriptions: uris }, _meta: ENVELOPE },
      }),
  };
}

async function connectEarlier() {
  const connected = connect();
  const { result } = await connected.ask('initialize', { ...CLIENT, protocolVersion: '2025-06-18' });
  expect(result.capabilities.resources).to.deep.equal({ subscribe: true });
  return connected;
}

describe('resources/subscribe over stdio', () => {
  it('reports changes until it is undone, and has no time limit', async () => {
    const { ask, change, updates, watchers } = await connectEarlier();
    for (const _ of [1, 2]) expect((await ask('resources/subscribe', { uri: TOOLS })).result).to.deep.equal({});
    await sleep(20);
    change('tools');
    await eventually(() => updates().length === 1);
    expect(updates()).to.deep.equal([{ uri: TOOLS, _meta: { 'portico/etag': 'W/"1"' } }]);
    expect((await ask('resources/unsubscribe', { uri: TOOLS })).result).to.deep.equal({});
    expect([...watchers]).to.deep.equal([]);
    expect((await ask('resources/unsubscribe', { uri: TOOLS })).result).to.deep.equal({});
    await ask('resources/subscribe', { uri: TOOLS });
    change('tools');
    await eventually(() => updates().length === 2);
  });

  it('needs the URI of a resource, and is bounded', async () => {
    const { ask } = await connectEarlier();
    expect((await ask('resources/subscribe', { uri: 'platform://nothing' })).error.code).to.equal(-32002);
    expect((await ask('resources/subscribe', {})).error.data.code).to.equal('uri_missing');
    for (const uri of [TOOLS, WORKFLOWS]) await ask('resources/subscribe', { uri });
    const beyond = () => ask('resources/subscribe', { uri: 'platform://projects' });
    expect((await beyond()).error.data).to.include({ code: 'overloaded', retryAfterSeconds: 1 });
    await ask('resources/unsubscribe', { uri: TOOLS });
    expect((await beyond()).result).to.deep.equal({});
  });

  it('ends with a rejected credential, and with the connection', async () => {
    const { ask, watchers, connection, messages } = await connectEarlier();
    for (const uri of [TOOLS, WORKFLOWS]) await ask('resources/subscribe', { uri });
    const before = messages().length;
    watchers.get('tools')?.reject(new GatewayError('credential_rejected'));
    expect([...watchers.keys()]).to.deep.equal(['workflows']);
    connection.drain();
    expect(await connection.closed).to.equal(true);
    expect([...watchers]).to.deep.equal([]);
    expect(messages()).to.have.length(before);
  });
});

describe('subscriptions/listen over stdio', () => {
  it('reports changes until it is cancelled, and then nothing', async () => {
    const { listen, change, updates, messages, write, watchers } = connect();
    listen('sub', [TOOLS, WORKFLOWS]);
    await eventually(() => messages().length === 1);
    expect(messages()[0].params.notifications.resourceSubscriptions).to.have.members([TOOLS, WORKFLOWS]);
    change('tools');
    await eventually(() => updates().length === 1);
    expect(updates()).to.deep.equal([
      { uri: TOOLS, _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub', 'portico/etag': 'W/"1"' } },
    ]);
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'sub' } });
    await eventually(() => watchers.size === 0);
    await sleep(20);
    expect(messages()).to.have.length(2);
  });

  it('reports many changes once to a client that does not read', async () => {
    const { listen, change, updates, messages, output } = connect();
    listen('sub', [TOOLS]);
    await eventually(() => messages().length === 1);
    output.pause();
    const before = output.readableLength + output.writableLength;
    for (let changes = 0; changes < 10_000; changes += 1) {
      change('tools');
      await turn();
    }
    expect(output.readableLength + output.writableLength - before).to.be.lessThan(200_000);
    output.resume();
    await sleep(50);
    // Those that fit into the buffers of the stream.
    expect(updates().length).to.be.within(1, 500);
  });

  it('ends with its result at the end of its token, and with the connection', async () => {
    const expiring = connect({ expiresAt: Date.now() + 100 });
    expiring.listen('sub', [TOOLS]);
    await eventually(() => expiring.messages().at(-1)?.result?.resultType === 'complete');
    const { listen, messages, connection } = connect();
    listen('sub', [TOOLS]);
    await eventually(() => messages().length === 1);
    connection.drain();
    expect(await connection.closed).to.equal(true);
    expect(messages()[1]).to.deep.include({ id: 'sub' });
    expect(messages()[1].result.resultType).to.equal('complete');
  });
});

describe('portico stdio', function () {
  this.timeout(60_000);

  it("notifies the SDK's client of a change, in an earlier revision", async () => {
    let version = 0;
    const platform = await startHttpUpstream(lists({ tools: () => [toolItem(`v${version}`)] }));
    const folder = await newFolder();
    const each = { baseUrl: platform.url };
    const resources = { tools: { cache: { ttlMs: 1000 } } };
    const upstreams = { projects: each, workflows: each, tools: each };
    const config = await writeSettings(folder, JSON.stringify({ upstreams, resources }));
    const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode: 'legacy' } });
    const env = { PORTICO_TOKEN: TOKEN };
    const server = { command: process.execPath, args: [MAIN, 'stdio', '--config', config], env };
    await client.connect(new StdioClientTransport({ ...server, stderr: 'ignore' }));
    onCleanup(() => client.close());
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
    await client.subscribeResource({ uri: TOOLS });
    version += 1;
    await eventually(() => updated.length > 0);
    expect(updated).to.deep.equal([TOOLS]);
    const { contents } = await client.readResource({ uri: TOOLS });
    expect(JSON.stringify(contents)).to.contain('v1');
    await client.close();
  });
});
