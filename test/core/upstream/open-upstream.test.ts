import type { Socket } from 'node:net';
import { expect } from 'chai';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { type OpenUpstreamOptions, openUpstream } from '../../../src/core/upstream/open-upstream.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { inTurn, json } from '../../support/platform/http-upstream.ts';
import { asking, calm, errorOf, serve, serveRaw } from './harness.ts';

const ONCE = { failurePercent: 50, minimumCalls: 1, windowMs: 10_000, openMs: 60_000 };
const NEVER = { attempts: 0, statuses: [503], baseDelayMs: 1, maxDelayMs: 1, budgetPercent: 0 };

describe('an upstream with all its layers, over real sockets', () => {
  function openAt(baseUrl: string, options: Partial<OpenUpstreamOptions> = {}) {
    const upstream = openUpstream({
      name: 'projects',
      baseUrl,
      headers: {},
      timeoutMs: 2000,
      connectTimeoutMs: 2000,
      connections: 4,
      maxQueue: 4,
      rememberRejectedMs: 5000,
      maxPageBytes: 1024,
      usesCallerToken: true,
      authorize: async () => ({ authorization: 'Bearer of-the-layer' }),
      breaker: ONCE,
      retry: NEVER,
      events: {},
      ...options,
    });
    onCleanup(() => upstream.close());
    return upstream;
  }

  it('probes with the response to a rejected token, not with the negative cache', async () => {
    const statuses = [401, 500, 401];
    const server = await serve((request, response) => json({}, statuses.shift())(request, response));
    const upstream = openAt(server.url, { breaker: { ...ONCE, failurePercent: 10, openMs: 20 } });
    const read = (key: string) => errorOf(upstream.get(asking('/', { credentialKey: key }), calm()));
    expect((await read('a')).code).to.equal('credential_rejected');
    expect((await read('b')).code).to.equal('upstream_failed');
    await eventually(() => upstream.breakerState === 'half-open' || undefined);
    expect((await read('a')).code).to.equal('credential_rejected');
    expect(upstream.breakerState).to.equal('half-open');
    expect((await read('b')).code).to.equal('credential_rejected');
    expect(upstream.breakerState).to.equal('closed');
    expect(server.requests).to.have.length(3);
  });

  it('sends one authorization with all retries, and requests none while the breaker is open', async () => {
    const statuses = [503, 503, 500];
    const server = await serve((request, response) => json([], statuses.shift())(request, response));
    let authorized = 0;
    const upstream = openAt(server.url, {
      retry: { ...NEVER, attempts: 2, baseDelayMs: 1, maxDelayMs: 1000, budgetPercent: 20 },
      async authorize({ credentialKey: key }) {
        authorized += 1;
        return { authorization: `Bearer ${key} ${authorized}` };
      },
    });
    await errorOf(upstream.get(asking(), calm()));
    expect(await errorOf(upstream.get(asking(), calm()))).to.include({
      ...{ code: 'breaker_open', upstream: 'projects', retryAfterSeconds: 60 },
      reason: '1 of 1 calls failed; the last: upstream_failed, answered with status 500',
    });
    expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal(Array(3).fill('Bearer k 1'));
    expect(authorized).to.equal(1);
  });

  it('sends a request once more at most, as a resend, and only where a newer credential follows a 401', async () => {
    const authorization = { authorization: 'Bearer of-the-layer' };
    for (const [statuses, usesCallerToken, isNewer, sent, told] of [
      [[401, 200], false, true, 2, 1],
      [[401, 401], false, true, 2, 2],
      [[401], false, false, 1, 1],
      [[403], false, true, 1, 0],
      [[401], true, true, 1, 0],
    ] as const) {
      const server = await serve(inTurn(...statuses.map((status) => json([], status))));
      const refusals: unknown[] = [];
      let calls = 0;
      const refused: OpenUpstreamOptions['refused'] = (...given) => {
        refusals.push(given);
        return isNewer;
      };
      const wrapClient: OpenUpstreamOptions['wrapClient'] = (client) => ({
        ...client,
        get(request, signal) {
          calls += 1;
          return client.get(request, signal);
        },
      });
      const upstream = openAt(server.url, { usesCallerToken, refused, wrapClient });
      const request = asking();
      await upstream.get(request, calm()).catch(() => {});
      expect(calls).to.equal(sent);
      expect(refusals).to.deep.equal(Array(told).fill([request.caller, authorization]));
    }
  });

  it('does not count the refusals of its queue', async () => {
    const sockets: Socket[] = [];
    const { url } = await serveRaw((socket) => sockets.push(socket));
    const breaker = { ...ONCE, minimumCalls: 2 };
    const upstream = openAt(url, { connections: 1, maxQueue: 0, breaker });
    for (let failures = 1; failures <= 2; failures += 1) {
      const failing = errorOf(upstream.get(asking(), calm()));
      for (let refusals = 0; refusals < 20; refusals += 1) {
        expect((await errorOf(upstream.get(asking(), calm()))).code).to.equal('overloaded');
      }
      await eventually(() => sockets.length === failures);
      sockets.at(-1)?.destroy();
      expect((await failing).code).to.equal('upstream_failed');
    }
    expect(upstream.breakerState).to.equal('open');
  });

  it('does not count errors of another server, even when half-open', async () => {
    const statuses = [500];
    const server = await serve((request, response) => json([], statuses.shift() ?? 200)(request, response));
    const elsewhere = new GatewayError('upstream_failed', { dependencyFailed: true });
    const fails = { authorize: async () => ({}) };
    const upstream = openAt(server.url, { breaker: { ...ONCE, openMs: 20 }, authorize: () => fails.authorize() });
    await errorOf(upstream.get(asking(), calm()));
    await eventually(() => upstream.breakerState === 'half-open');
    fails.authorize = () => Promise.reject(elsewhere);
    expect(await errorOf(upstream.get(asking(), calm()))).to.equal(elsewhere);
    expect(upstream.breakerState).to.equal('half-open');
    fails.authorize = async () => ({});
    await upstream.get(asking(), calm());
    expect(upstream.breakerState).to.equal('closed');
  });
});
