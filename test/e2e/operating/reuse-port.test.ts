import { expect } from 'chai';
import { metric } from '../../support/fleet/replicas.ts';
import { freePort } from '../../support/listening.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { READ_TOOLS, servedFrom, startServing } from '../../support/process/serving.ts';

const ITEM = { id: '1', name: 'N', version: '1', category: 'C', description: 'D' };
const MISSES = 'portico_reads_total{resource="tools",cache="miss",error_type=""}';
/** The kernel chooses a process by a hash of addresses: all of so many connections go to one of two once in 2^31 runs. */
const CONNECTIONS = 32;

describe('http.reusePort', () => {
  it('lets two processes serve on one port, and the other one alone once one has drained', async () => {
    const platform = await startHttpUpstream(lists({ tools: [ITEM] }));
    const settings = servedFrom(platform.url, { http: { port: await freePort(), reusePort: true } });
    const processes = [await startServing(settings), await startServing(settings)] as const;
    const [first, second] = processes;
    expect(second.url).to.equal(first.url);

    async function statusesOf(connections: number): Promise<Set<number>> {
      const statuses = new Set<number>();
      for (let index = 0; index < connections; index += 1) {
        const headers = { authorization: `Bearer token-${index}`, connection: 'close' };
        statuses.add((await fetch(`${first.url}${READ_TOOLS}`, { headers })).status);
      }
      return statuses;
    }

    expect(await statusesOf(CONNECTIONS)).to.deep.equal(new Set([200]));
    const served = await Promise.all(processes.map((one) => metric(one, MISSES)));
    expect(Math.min(...served)).to.be.greaterThan(0);
    expect(served.reduce((sum, count) => sum + count)).to.equal(CONNECTIONS);
    expect((await first.stop()).code).to.equal(0);
    expect(await statusesOf(8)).to.deep.equal(new Set([200]));
  });
});
