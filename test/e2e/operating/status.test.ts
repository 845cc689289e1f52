import { expect } from 'chai';
import type { Status } from '../../../src/capabilities/status/gateway-status.ts';
import type { Gateway } from '../../../src/gateway.ts';
import { settingsFor, startGateway, TOKEN } from '../../support/gateway.ts';
import { type HttpUpstream, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { exchange } from '../../support/raw-http.ts';
import { callOf, postText } from '../../support/rpc.ts';

const KEY = 'k3y-0f-the-platform-123456';

describe('the status of a gateway', () => {
  let platform: HttpUpstream;
  let gateway: Gateway;
  let read: (name: string) => Promise<Response>;
  let isFailing = false;

  const status = async (): Promise<Status> => {
    const response = await fetch(`${gateway.adminUrl}/status`);
    expect(response.status).to.equal(200);
    expect(response.headers.get('cache-control')).to.equal('no-store');
    return (await response.json()) as Status;
  };

  beforeEach(async () => {
    isFailing = false;
    platform = await startHttpUpstream((request, response) => {
      const name = listOf(request);
      if (isFailing) return void response.writeHead(500).end();
      const items = Array.from({ length: 9 }, (_, index) => ({ id: `${index}`, name: 'N', summary: 'D' }));
      response.end(JSON.stringify({ [name]: [...items, {}] }));
    });
    const settings = settingsFor(platform.url, {
      admin: { port: 0 },
      upstream: { retry: { attempts: 0 }, breaker: { minimumCalls: 4 }, headers: { 'X-Api-Key': KEY } },
      resources: { tools: { invalidItems: 'drop' } },
    });
    const running = await startGateway(settings);
    ({ gateway } = running);
    read = running.read;
  });

  it('counts requests, and calls of each upstream', async () => {
    for (let count = 0; count < 4; count += 1) expect((await read('tools')).status).to.equal(200);
    const shown = await status();
    expect(JSON.stringify(shown)).to.not.contain(KEY).and.not.contain(TOKEN);
    const { requests, snapshots, upstreams, resources, memory } = shown;
    expect(requests).to.include({ requests: 4, failures: 0 });
    expect(snapshots).to.include({ entries: 1 });
    expect(snapshots.bytes).to.be.above(0);
    expect(upstreams.map(({ total }) => total.requests)).to.deep.equal([0, 0, 1]);
    expect(resources[2]).to.deep.include({ items: 9, warnings: ['1 of 10 items could not be mapped'] });
    expect(memory.heapBytes).to.be.within(1, memory.heapLimitBytes);
  });

  it('shows the breaker, failed calls, rejected calls and reads of a failing platform', async () => {
    isFailing = true;
    for (let count = 0; count < 8; count += 1) expect((await read('projects')).status).to.be.within(502, 503);
    const { requests, upstreams, resources, changes } = await status();
    expect(requests).to.include({ requests: 8, failures: 8 });
    expect(upstreams[0]).to.include({ breaker: 'open', refused: 4 });
    expect(upstreams[0]?.total).to.include({ requests: 4, failures: 4 });
    expect(resources[0]?.reads).to.deep.equal({ reads: 8, failed: 8, stale: 0, error: 'breaker_open' });
    expect(resources[0]?.lastFailure).to.include({ code: 'breaker_open' });
    expect(resources[2]?.lastMinute).to.deep.equal({ reads: 0, failed: 0, stale: 0, error: null });
    expect(changes[0]).to.include({ isTrouble: true, text: 'projects: breaker open' });
  });

  it('counts tool calls that an upstream failed as failed requests, and no wrong arguments', async () => {
    const call = (args: object) => callOf('list_installed_tools', args);
    const post = async (message: object) => {
      const { status: code, body } = await exchange(gateway.url, postText(message));
      expect(code).to.equal(200);
      expect(`${body}`).to.contain('"isError":true');
    };
    await post(call({ limit: 'many' }));
    expect((await status()).requests.failures).to.equal(0);
    isFailing = true;
    await post(call({}));
    expect((await status()).requests.failures).to.equal(1);
    expect((await status()).lastMinute.failures).to.equal(1);
  });

  it('begins with a verdict that links to the runbook, which the admin listener serves', async () => {
    // Other tests on the machine can delay the event loop.
    const troubles = async () => (await status()).verdict.troubles.filter(({ subject }) => subject !== 'event loop');
    expect(await troubles()).to.deep.equal([]);
    isFailing = true;
    for (let count = 0; count < 8; count += 1) await read('projects');
    const found = await troubles();
    expect(found.map(({ level, text }) => `${level} ${text}`)).to.deep.equal([
      'red projects: breaker open (4 of 4 calls failed; the last: upstream_failed, answered with status 500)',
      'red projects: 8 of 8 reads failed in the last minute (breaker_open)',
    ]);
    const [path = '', anchor = ''] = found[0]?.runbook.split('#') ?? [];
    const runbook = await (await fetch(`${gateway.adminUrl}/${path}`)).text();
    expect(runbook).to.contain(`<section id="${anchor}"><h2>PorticoBreakerOpen</h2>`);
    expect(runbook).to.contain('The platform is down or slow: PorticoBreakerOpen\n');
    // Nothing is left of its marks.
    expect(runbook.slice(runbook.indexOf('<main>'))).to.not.match(/[`|]|\*\*|\]\(/);
  });
});
