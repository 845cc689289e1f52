import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { exchange, get } from '../../support/raw-http.ts';

const READ = '/mcp/v1/resources/read?uri=platform://tools';
const FLOOD = 200;

/** A read with this token, through a proxy that is trusted. */
const readFrom = (address: string, token: string) =>
  get(READ, { 'X-Forwarded-For': address, Authorization: `Bearer ${token}` });

/** A platform that answers made-up tokens when the test says so, and a gateway in front of it. */
async function start(upstream: object, settings: object = {}) {
  const held: (() => void)[] = [];
  const platform = await startHttpUpstream((request, response) => {
    const isMadeUp = tokenOf(request).startsWith('made-up');
    const reply = () => json({ tools: [] }, isMadeUp ? 401 : 200)(request, response);
    if (isMadeUp) held.push(reply);
    else reply();
  });
  const http = { trustedProxies: ['127.0.0.0/8'] };
  const { url } = await startGateway(settingsFor(platform.url, { http, upstream, ...settings }));
  const statuses: number[] = [];
  const ask = async (address: string, token: string) => {
    const { status } = await exchange(url, readFrom(address, token));
    statuses.push(status);
    return status;
  };
  return {
    ask,
    statuses,
    held,
    flood: (address: string) => Array.from({ length: FLOOD }, (_, index) => ask(address, `made-up-${index}`)),
    async release(asked: readonly Promise<number>[]) {
      const replying = setInterval(() => held.splice(0).forEach((reply) => void reply()), 10);
      return Promise.all(asked).finally(() => clearInterval(replying));
    },
  };
}

const countOf = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;

describe('many made-up tokens from one address', () => {
  it('leave half of the queue to other addresses', async () => {
    const { ask, flood, statuses, held, release } = await start({ connections: 2, maxQueue: 16, timeoutMs: 60_000 });
    const flooding = flood('2001:db8::1');
    // Two are being asked about, and eight of the sixteen places are taken.
    await eventually(() => held.length === 2 && statuses.length === FLOOD - 10);
    expect(await ask('2001:db8::2', 'neighbour'), 'of the same /64').to.equal(503);
    const others = ['a', 'b', 'c', 'd'].map((token) => ask('203.0.113.2', token));
    const answers = await release([...flooding, ...others]);
    expect(countOf(answers.slice(0, FLOOD), 503)).to.equal(FLOOD - 10);
    expect(answers.slice(FLOOD)).to.deep.equal([200, 200, 200, 200]);
  });

  it('release every place when the platform times out', async () => {
    const settings = { maxWaiting: 8 };
    const upstream = { connections: 2, maxQueue: 16, timeoutMs: 300, breaker: { minimumCalls: 10_000 } };
    const { ask, flood } = await start(upstream, settings);
    const answers = await Promise.all(flood('203.0.113.1'));
    expect(countOf(answers, 504), JSON.stringify(answers)).to.be.greaterThan(0);
    expect(countOf(answers, 401)).to.equal(0);
    const good = ['a', 'b', 'c', 'd'].map((token) => ask('203.0.113.1', token));
    expect(new Set(await Promise.all(good))).to.deep.equal(new Set([200]));
  });
});
