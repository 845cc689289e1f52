import { expect } from 'chai';
import { createGateway, type Gateway } from '../src/gateway.ts';
import { aWhile } from './support/a-while.ts';
import { eventually } from './support/eventually.ts';
import { settingsFor, startGateway, TOKEN } from './support/gateway.ts';
import type { TestSettings } from './support/limits.ts';
import { json, startHttpUpstream } from './support/platform/http-upstream.ts';

describe('a gateway whose upstreams are not all well', () => {
  const start = (upstreams: TestSettings['upstreams']) => startGateway({ ...settingsFor(''), upstreams });
  const well = json({ workflows: [], tools: [] });

  it('reads from the others without delay while one is slow, with its connections taken and its queue full', async () => {
    const slow = await startHttpUpstream(() => {});
    const quick = await startHttpUpstream(well);
    const { read } = await start({
      projects: { baseUrl: slow.url, timeoutMs: 60_000, connections: 2, maxQueue: 2 },
      workflows: { baseUrl: quick.url },
      tools: { baseUrl: quick.url },
    });
    const controller = new AbortController();
    const stuck = Array.from({ length: 20 }, (_, index) =>
      read('projects', { signal: controller.signal, headers: { authorization: `Bearer ${TOKEN}-${index}` } })
        .then(({ status }) => status)
        .catch(() => 'gone'),
    );
    await eventually(() => slow.requests.length > 0 || undefined);
    const begun = performance.now();
    for (let count = 0; count < 5; count += 1) {
      const answers = await Promise.all(['workflows', 'tools'].map((name) => read(name)));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    }
    // Far from tight: what the slow one would have held up would take a minute.
    expect(performance.now() - begun).to.be.below(5000);
    await aWhile(20);
    controller.abort();
    expect(new Set(await Promise.all(stuck))).to.deep.equal(new Set([503, 'gone']));
  });

  it('reports the state of each breaker, and applies the pause of one to none of the others', async () => {
    const broken = await startHttpUpstream(json({}, 500));
    const quick = await startHttpUpstream(well);
    const { gateway, read } = await start({
      projects: { baseUrl: broken.url, breaker: { minimumCalls: 1, openMs: 60_000 } },
      workflows: { baseUrl: quick.url },
      tools: { baseUrl: quick.url },
    });
    const closed: Gateway['breakers'] = { projects: 'closed', workflows: 'closed', tools: 'closed' };
    expect(gateway.breakers).to.deep.equal(closed);
    expect((await read('projects')).status).to.equal(502);
    expect(gateway.breakers).to.deep.equal({ ...closed, projects: 'open' });
    const answer = await read('projects');
    expect(answer.status).to.equal(503);
    expect(answer.headers.get('retry-after')).to.equal('60');
    expect(await answer.json()).to.include({ code: 'breaker_open', upstream: 'projects', retryAfterSeconds: 60 });
    expect((await read('tools')).status).to.equal(200);
    expect(broken.requests).to.have.length(1);
  });

  it('reports them before it starts', () => {
    const gateway = createGateway({ ...settingsFor('http://127.0.0.1:9'), log: { level: 'silent' } });
    expect(gateway.breakers).to.include({ projects: 'closed' });
  });
});
