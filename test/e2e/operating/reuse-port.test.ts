import { expect } from 'chai';
import { metric } from '../../support/fleet/replicas.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { freePort } from '../../support/listening.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';

const MISSES = 'portico_reads_total{resource="tools",cache="miss",error_type=""}';
/** The kernel chooses a listener by a hash of addresses: all of so many connections go to one of two once in 2^31 runs. */
const CONNECTIONS = 32;

describe('http.reusePort', () => {
  // To the kernel, two listeners of one process are as those of two.
  it('lets two gateways serve on one port, and the other one alone once one has drained', async () => {
    const platform = await startHttpUpstream(lists({ tools: [toolItem('a')] }));
    const http = { port: await freePort(), reusePort: true };
    const settings = settingsFor(platform.url, { http, admin: { port: 0 } });
    const gateways = [await startGateway(settings), await startGateway(settings)] as const;
    const [first, second] = gateways;
    expect(second.url).to.equal(first.url);

    async function statusesOf(connections: number): Promise<Set<number>> {
      const statuses = new Set<number>();
      for (let index = 0; index < connections; index += 1) {
        const headers = { authorization: `Bearer token-${index}`, connection: 'close' };
        statuses.add((await first.read('tools', { headers })).status);
      }
      return statuses;
    }

    expect(await statusesOf(CONNECTIONS)).to.deep.equal(new Set([200]));
    const served = await Promise.all(gateways.map(({ gateway: { adminUrl = '' } }) => metric({ adminUrl }, MISSES)));
    expect(Math.min(...served)).to.be.greaterThan(0);
    expect(served.reduce((sum, count) => sum + count)).to.equal(CONNECTIONS);
    expect(await first.gateway.close()).to.equal(true);
    expect(await statusesOf(8)).to.deep.equal(new Set([200]));
  });
});
