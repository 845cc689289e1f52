import { expect } from 'chai';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { servedFrom, startServing } from '../../support/process/serving.ts';
import { subscribe } from './subscriber.ts';

const MB = 1_000_000;
const metric = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );

describe('a process with subscriptions', function () {
  this.timeout(120_000);

  it('holds as many as one address may have in a heap of 256 MB, however long the messages that opened them', async () => {
    const OPEN = 512;
    const platform = await startHttpUpstream(lists({ tools: [toolItem('a')] }), { record: false });
    const portico = await startServing(servedFrom(platform.url), { NODE_OPTIONS: '--max-old-space-size=256' });
    const metrics = async () => (await fetch(`${portico.adminUrl}/metrics`)).text();
    const notifications = { resourceSubscriptions: ['platform://tools', 'x'.repeat(0.9 * MB)] };
    for (let open = 0; open < OPEN; open += 1) {
      const { response, received } = await subscribe(portico.url, { token: `caller-${open % 16}`, notifications });
      expect(response.status).to.equal(200);
      await received(1);
    }
    const text = await metrics();
    expect(metric(text, 'portico_subscriptions')).to.equal(OPEN);
    expect(metric(text, 'nodejs_external_memory_bytes')).to.be.lessThan(60 * MB);
    expect(metric(text, 'nodejs_heap_size_used_bytes')).to.be.lessThan(200 * MB);
    expect((await portico.ask('/mcp/v1/resources/read?uri=platform://tools')).status).to.equal(200);
    const begun = performance.now();
    const { code } = await portico.stop();
    expect(code).to.equal(0);
    expect(performance.now() - begun).to.be.lessThan(5000);
  });
});
