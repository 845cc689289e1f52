import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { as, TOKEN } from '../../support/authorization/caller.ts';
import { AUDIENCE, startIssuer } from '../../support/authorization/issuer.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { atDepth } from '../../support/depth.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { json, listOf, lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { rpc } from '../../support/rpc.ts';
import { subscribe } from './subscriber.ts';

const FAST = { pollMs: 40, minPollMs: 20, maxPollMs: 80 };
/** Longer than several polls. */
const POLLS_MS = 300;
const ALL = ['projects', 'workflows', 'tools'];

/** A gateway in front of a platform whose lists a test changes, and that are polled often. */
async function scene(overrides: Partial<TestSettings> = {}) {
  const versions = new Map<string, number>();
  const itemsOf = (request: IncomingMessage) => [toolItem(`v${versions.get(tokenOf(request)) ?? 0}`)];
  const honest = lists({ projects: itemsOf, workflows: itemsOf, tools: itemsOf });
  const platform = await startHttpUpstream(honest);
  const log = captureLog();
  const cache = { ttlMs: 40 };
  const running = await startGateway(
    settingsFor(platform.url, {
      resources: { workflows: { cache }, tools: { cache } },
      upstream: { retry: { attempts: 0 } },
      ...overrides,
      subscriptions: { ...FAST, ...overrides.subscriptions },
    } as TestSettings),
    { logger: log.logger },
  );
  const reads = (name: string) => platform.requests.filter((request) => listOf(request) === name).length;
  return {
    ...running,
    platform,
    log,
    honest,
    reads,
    /** Changes all lists of a caller. */
    change: (token: string) => void versions.set(token, (versions.get(token) ?? 0) + 1),
    /** Rejects unless nothing is read for longer than several polls. */
    async expectNoPolls() {
      await sleep(POLLS_MS / 2);
      const before = platform.requests.length;
      await sleep(POLLS_MS);
      expect(platform.requests.length).to.equal(before);
    },
  };
}

/** A gateway that introspects every token at each read, with claims that a test changes. */
async function introspectedScene(overrides: Record<string, unknown> = {}) {
  let claims: object = {};
  const issuer = await startHttpUpstream((request, response) => {
    const { url } = issuer;
    const exp = Math.floor(Date.now() / 1000) + 600;
    const usual = { active: true, sub: 'ada', aud: AUDIENCE, exp, iss: url, tenant: 'first', scope: 'tools:read' };
    const metadata = { issuer: url, introspection_endpoint: `${url}/introspect` };
    json(request.url === '/introspect' ? { ...usual, ...claims } : metadata)(request, response);
  });
  const introspection = { clientId: 'portico', secret: 'secret-of-the-client' };
  const running = await scene({
    verification: { issuer: issuer.url, audience: AUDIENCE, introspection, rememberMs: 0, partitionClaim: 'tenant' },
    resources: { tools: { cache: { ttlMs: 40 }, requiredScopes: ['tools:read'] } },
    ...overrides,
  } as Partial<TestSettings>);
  return {
    ...running,
    introspected: (changed: object) => {
      claims = changed;
    },
    itemsOf: async (response: Promise<Response>) =>
      ((await (await response).json()) as { id: string }[]).map(({ id }) => id),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
type Json = any;

const META = { 'io.modelcontextprotocol/subscriptionId': 'sub' };

describe('a subscription over HTTP', () => {
  it('is acknowledged with the lists that are watched, and is notified when the list of its caller has changed', async () => {
    const { url, change } = await scene();
    const subscriber = await subscribe(url, { token: 'a', resources: ['tools', 'nothing', 'projects', 'tools'] });
    expect(subscriber.response.status).to.equal(200);
    expect(subscriber.response.headers.get('content-type')).to.equal('text/event-stream');
    const [acknowledged] = await subscriber.received(1);
    expect(acknowledged).to.deep.equal({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { resourceSubscriptions: ['platform://projects', 'platform://tools'] }, _meta: META },
    });
    await sleep(POLLS_MS);
    change('b');
    await sleep(POLLS_MS);
    expect(subscriber.messages).to.have.length(1);
    change('a');
    await subscriber.received(3);
    expect(subscriber.notified()).to.have.members(['tools', 'projects']);
    const [, { params, ...updated }] = subscriber.messages;
    expect(updated).to.deep.equal({ jsonrpc: '2.0', method: 'notifications/resources/updated' });
    const response = await fetch(`${url}/mcp/v1/resources/read?uri=${params.uri}`, {
      headers: { authorization: 'Bearer a' },
    });
    const etag = response.headers.get('etag');
    expect(params).to.deep.equal({ uri: params.uri, _meta: { ...META, 'portico/etag': etag } });
  });

  it('shares the polls of its caller, which end with the last subscriber', async () => {
    const { url, platform, reads, change, log, expectNoPolls } = await scene({ subscriptions: { pollMs: 100 } });
    await expectNoPolls();
    const subscribers = await Promise.all(
      Array.from({ length: 10 }, () => subscribe(url, { resources: ['projects'] })),
    );
    const before = reads('projects');
    await sleep(1000);
    expect(reads('projects') - before).to.be.within(2, 10);
    expect(reads('tools')).to.equal(0);
    for (const subscriber of subscribers.slice(1)) subscriber.leave();
    change(TOKEN);
    await eventually(() => subscribers[0]?.notified().length === 1);
    subscribers[0]?.leave();
    await expectNoPolls();
    for (const line of await log.access(10)) expect(line).to.include({ status: 200, outcome: 'ok' });
    expect(platform.requests.every((request) => tokenOf(request) === TOKEN)).to.equal(true);
  });

  it('does not share polls among callers with another credential in a header', async () => {
    const credential = { kind: 'header', name: 'x-key', from: 'X-Key', format: '{token}' } as const;
    const { url, platform } = await scene({ upstream: { credential } } as Partial<TestSettings>);
    const keys = ['one', 'two'];
    const headers = keys.map((key) => ({ 'x-key': key }));
    await Promise.all(headers.map((each) => subscribe(url, { resources: ['projects'], headers: each })));
    await sleep(POLLS_MS);
    const polls = keys.map((key) => platform.requests.filter((request) => request.headers['x-key'] === key).length);
    for (const count of polls) expect(count).to.be.greaterThan(1);
  });

  it('is kept open by comments', async () => {
    const { url } = await scene({ mcp: { keepAliveMs: 20 } });
    const subscriber = await subscribe(url);
    await eventually(() => subscriber.comments() > 3);
    expect(subscriber.messages).to.have.length(1);
  });

  it('ends with its result after the time limit, and its line in the log has the duration', async () => {
    const { url, log, expectNoPolls } = await scene({ subscriptions: { maxMs: 300 } });
    const { ended, leave } = await subscribe(url);
    const { id, result } = await ended;
    expect(id).to.equal('sub');
    expect(result).to.deep.include({ resultType: 'complete' });
    expect(result._meta).to.include(META);
    const [line] = await log.access(1);
    expect(line).to.include({ rpc: 'subscriptions/listen', status: 200, outcome: 'ok' });
    expect(line?.['ms']).to.be.within(250, 5000);
    expect(line?.['bytes']).to.be.greaterThan(300);
    leave();
    await expectNoPolls();
  });

  it('ends at the end of its token, verified or not', async () => {
    const issuer = await startIssuer();
    const verification = { issuer: issuer.issuer, audience: AUDIENCE, leewayMs: 0 };
    const ends = [{}, { verification }].map(async (settings) => {
      const { url, expectNoPolls } = await scene(settings as Partial<TestSettings>);
      const exp = Math.ceil(Date.now() / 1000) + 2;
      const subscriber = await subscribe(url, { token: await issuer.token({ exp }) });
      expect((await subscriber.received(1))[0].method).to.equal('notifications/subscriptions/acknowledged');
      expect((await subscriber.ended).result).to.include({ resultType: 'complete' });
      expect(Date.now() / 1000).to.be.above(exp - 0.1);
      await expectNoPolls();
    });
    await Promise.all(ends);
  });

  it('of an expired token ends at once, and Node warns of nothing', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on('warning', warned);
    onCleanup(() => void process.off('warning', warned));
    const issuer = await startIssuer();
    const { url, expectNoPolls } = await scene();
    const token = await issuer.token({ exp: Math.floor(Date.now() / 1000) - 60 });
    expect((await (await subscribe(url, { token })).ended).result).to.include({ resultType: 'complete' });
    await expectNoPolls();
    expect(warnings).to.deep.equal([]);
  });

  it('ends with the error when the platform rejects its token', async () => {
    const { url, platform, log, expectNoPolls } = await scene();
    const subscriber = await subscribe(url, { resources: ALL });
    await subscriber.received(1);
    platform.respond(json({}, 401));
    const { id, error } = await subscriber.ended;
    expect(id).to.equal('sub');
    expect(error.code).to.equal(401);
    expect(error.data.code).to.equal('credential_rejected');
    const [line] = await log.access(1);
    expect(line).to.include({ outcome: 'credential_rejected' });
    await expectNoPolls();
  });

  it('is refused for a token that the platform rejects', async () => {
    const { url, platform } = await scene();
    platform.respond(json({}, 401));
    const { ended, response } = await subscribe(url, { resources: ALL });
    expect(response.headers.get('content-type')).to.equal('application/json');
    expect((await ended).error).to.deep.include({ code: 401 });
  });

  it('outlasts a platform that is down, without a storm, and is notified of what has changed since', async () => {
    const { url, platform, reads, change, honest } = await scene({
      upstream: { breaker: { openMs: 200 } },
    } as Partial<TestSettings>);
    const subscriber = await subscribe(url, { resources: ['projects'] });
    await subscriber.received(1);
    platform.respond((request) => request.socket.destroy());
    const before = reads('projects');
    await sleep(1000);
    // One for each 80 ms, and less once the breaker is open.
    expect(reads('projects') - before).to.be.within(2, 14);
    expect(subscriber.messages).to.have.length(1);
    change(TOKEN);
    platform.respond(honest);
    await eventually(() => subscriber.notified().length === 1);
  });

  it('is notified of nothing when access is denied for a while', async () => {
    const { url, platform, reads, honest } = await scene();
    const subscriber = await subscribe(url);
    platform.respond(json({}, 403));
    const before = reads('tools');
    await eventually(() => reads('tools') > before + 2);
    platform.respond(honest);
    await sleep(POLLS_MS);
    expect(subscriber.messages).to.have.length(1);
  });

  it('ends with its result when the gateway closes, which waits for nothing', async () => {
    const { url, gateway } = await scene();
    const subscribers = await Promise.all(ALL.map((name) => subscribe(url, { resources: [name] })));
    const begun = performance.now();
    expect(await gateway.close()).to.equal(true);
    expect(performance.now() - begun).to.be.lessThan(1000);
    for (const { ended } of subscribers) expect((await ended).result).to.include({ resultType: 'complete' });
  });

  it('ends with its result when settings change, and the replaced upstream closes', async () => {
    const { url, gateway, platform, expectNoPolls } = await scene();
    const { ended } = await subscribe(url);
    const other = await startHttpUpstream(lists({}));
    gateway.change(settingsFor(other.url, { subscriptions: { enabled: false } }));
    expect((await ended).result).to.include({ resultType: 'complete' });
    await expectNoPolls();
    expect(platform.requests.at(-1)?.socket.destroyed).to.equal(true);
    const [acknowledged, result] = await (await subscribe(url)).received(2);
    expect(acknowledged.params.notifications).to.deep.equal({});
    expect(result.result).to.include({ resultType: 'complete' });
  });

  it('counts once for the rate limit, whatever it reads', async () => {
    const { url, read, reads } = await scene({ limits: { perCaller: 2 } });
    const subscriber = await subscribe(url, { resources: ['projects'] });
    await eventually(() => reads('projects') > 5);
    expect((await read('projects')).status).to.equal(200);
    expect((await read('projects')).status).to.equal(429);
    expect(subscriber.messages).to.have.length(1);
  });

  it('needs a filter, and an id of moderate length', async () => {
    const { url, post } = await scene();
    const wrong = await subscribe(url, { notifications: { resourceSubscriptions: 'tools' } });
    expect((await wrong.ended).error.code).to.equal(-32602);
    const long = await subscribe(url, { id: 'x'.repeat(257) });
    expect((await long.ended).error.code).to.equal(-32602);
    const earlier: Json = await (await post(rpc('resources/subscribe', { uri: 'platform://tools' }))).json();
    expect(earlier.error.code).to.equal(-32601);
    expect(earlier.error.message).to.contain('subscriptions/listen');
  });

  it('is announced in the revision that has it, unless it is off', async () => {
    for (const [enabled, expected] of [
      [true, { subscribe: true }],
      [false, {}],
    ] as const) {
      const { url, post } = await scene({ subscriptions: { enabled } });
      const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } };
      const { result }: Json = await (await post(rpc('initialize', client))).json();
      expect(result.capabilities.resources).to.deep.equal({});
      const { ended } = await subscribe(url, { method: 'server/discover' });
      expect((await ended).result.capabilities.resources).to.deep.equal(expected);
    }
  });

  it("is held by the SDK's client", async () => {
    const { url, gateway, change } = await scene();
    const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode: 'auto' } });
    onCleanup(() => client.close());
    const headers = { Authorization: `Bearer ${TOKEN}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
    const resourceSubscriptions = ['platform://tools'];
    const first = await client.listen({ resourceSubscriptions });
    expect(first.honoredFilter).to.deep.equal({ resourceSubscriptions });
    change(TOKEN);
    await eventually(() => updated.length === 1);
    expect(updated).to.deep.equal(resourceSubscriptions);
    await first.close();
    const second = await client.listen({ resourceSubscriptions });
    await gateway.close();
    expect(await second.closed).to.equal('graceful');
  });
});

describe('subscriptions', () => {
  const refusalOf = async ({ response, ended }: Awaited<ReturnType<typeof subscribe>>) => {
    expect(response.headers.get('content-type')).to.equal('application/json');
    return (await ended).error.data;
  };

  it('are bounded for a caller, for an address, by their number and by the connections', async () => {
    for (const [overrides, tokens, open] of [
      [{ subscriptions: { maxPerCaller: 2 } }, ['a', 'a', 'a'], 2],
      [{ subscriptions: { maxSubscriptions: 4 } }, ['a', 'b', 'c'], 2],
      [{ http: { maxConnections: 7 } }, ['a', 'b', 'c'], 2],
    ] as const) {
      const { url, log } = await scene(overrides);
      const subscribers = [];
      for (const token of tokens) subscribers.push(await subscribe(url, { token, resources: ['workflows'] }));
      const [last] = subscribers.slice(open);
      if (last === undefined) throw new Error('there is one');
      expect(await refusalOf(last)).to.include({ code: 'overloaded', retryAfterSeconds: 1 });
      expect(log.lines().find(({ msg }) => msg === 'limit reached')?.['bound']).to.match(
        /^max(Subscriptions|PerCaller)$/,
      );
      subscribers[0]?.leave();
      await eventually(async () => {
        const { response } = await subscribe(url, { token: tokens[0], resources: ['workflows'] });
        return response.headers.get('content-type') === 'text/event-stream';
      });
    }
  });

  it('do not displace reads: so many callers are polled at once for a resource', async () => {
    const { url, platform, honest } = await scene({ subscriptions: { maxPolls: 2 } });
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => subscribe(url, { token: `t${index}`, resources: ['projects'] })),
    );
    let running = 0;
    let most = 0;
    platform.respond(async (request, response) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(20);
      running -= 1;
      honest(request, response);
    });
    await sleep(1000);
    expect(most).to.equal(2);
  });

  it('end for a token that introspection no longer accepts, also where the platform never sees it', async () => {
    const { url, introspected } = await introspectedScene({ upstream: { credential: { kind: 'none' } } });
    const subscriber = await subscribe(url, { token: 'opaque' });
    await subscriber.received(1);
    introspected({ active: false });
    expect((await subscriber.ended).error.data.code).to.equal('credential_rejected');
  });

  it('end with their result when introspection names another tenant, whose list no caller of the first one gets', async () => {
    const { url, introspected, platform, itemsOf, read } = await introspectedScene();
    const subscriber = await subscribe(url, { token: 'opaque' });
    await subscriber.received(1);
    introspected({ tenant: 'other' });
    platform.respond(lists({ tools: () => [toolItem('of-the-other-tenant')] }));
    expect((await subscriber.ended).result).to.include({ resultType: 'complete' });
    introspected({});
    platform.respond(lists({ tools: () => [toolItem('of-the-first-tenant')] }));
    expect(await itemsOf(read('tools', as('colleague')))).to.deep.equal(['of-the-first-tenant']);
  });

  it('end with their result when introspection names fewer scopes or another subject', async () => {
    for (const changed of [{ scope: '' }, { sub: 'bob' }]) {
      const { url, introspected, expectNoPolls } = await introspectedScene();
      const subscribers = await Promise.all([1, 2].map(() => subscribe(url, { token: 'opaque' })));
      for (const { received } of subscribers) await received(1);
      introspected(changed);
      for (const { ended } of subscribers) expect((await ended).result).to.include({ resultType: 'complete' });
      await expectNoPolls();
    }
  });

  it('of a token with a new verdict do not join the polls of the earlier one', async () => {
    const { url, introspected } = await introspectedScene({ subscriptions: { pollMs: 500, minPollMs: 500 } });
    const earlier = await subscribe(url, { token: 'opaque' });
    await earlier.received(1);
    introspected({ tenant: 'other' });
    const later = await subscribe(url, { token: 'opaque' });
    await later.received(1);
    expect((await earlier.ended).result).to.include({ resultType: 'complete' });
    expect(later.messages).to.have.length(1);
  });

  const CHANGES = atDepth(60, 10_000);
  const CALLERS = atDepth(12, 40);
  it(`notify of ${CHANGES} changes within two polls each under load, and notify no other caller`, async function () {
    this.timeout(atDepth(120_000, 600_000));
    const { url, change, platform, honest, read } = await scene({ subscriptions: { pollMs: 20, maxPolls: 40 } });
    const polls = new Map<string, number>();
    const pollsOf = (token: string) => polls.get(token) ?? 0;
    platform.respond((request, response) => {
      const token = tokenOf(request);
      polls.set(token, pollsOf(token) + 1);
      honest(request, response);
    });
    const callers = await Promise.all(
      Array.from({ length: CALLERS }, async (_, index) => {
        const token = `caller-${index}`;
        return {
          token,
          isChanged: index % 2 === 0,
          subscriber: await subscribe(url, { token, resources: ['projects'] }),
        };
      }),
    );
    const changed = callers.filter(({ isChanged }) => isChanged);
    let isOver = false;
    const load = Array.from({ length: 2 }, async (_, index) => {
      while (!isOver) {
        await (await read('tools', as(`reader-${index}`))).arrayBuffer();
        await sleep(5);
      }
    });
    await Promise.all(
      changed.map(async ({ token, subscriber }) => {
        for (let changes = 1; changes <= CHANGES / changed.length; changes += 1) {
          const before = pollsOf(token);
          change(token);
          await eventually(() => subscriber.notified().length === changes);
          expect(pollsOf(token) - before).to.be.at.most(2);
        }
      }),
    );
    isOver = true;
    await Promise.all(load);
    await sleep(POLLS_MS);
    for (const { subscriber, isChanged } of callers) {
      expect(subscriber.notified()).to.have.length(isChanged ? CHANGES / changed.length : 0);
    }
  });
});
