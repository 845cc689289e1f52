import { expect } from 'chai';
import { TOKEN } from '../../support/authorization/caller.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type HttpUpstream,
  json,
  listOf,
  lists,
  startHttpUpstream,
  tokenOf,
} from '../../support/platform/http-upstream.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { type Ended, type RunningProcess, runStdio, settingsFile } from '../../support/process/process.ts';
import { bodyOf, readOf } from '../../support/rpc.ts';

const SETTINGS = `
upstreams: { platform: { baseUrl: "\${PLATFORM_URL}" } }
resources:
  projects: { upstream: platform }
  workflows: { upstream: platform }
  tools: { upstream: platform }
shutdown: { graceMs: 20000 }
`;
const ITEMS = [{ id: 'a', name: 'A', version: '1.0.0', category: 'c', description: '' }];
const read = (name: string) => `${bodyOf(readOf(name, name))}\n`;

// SDKs and other clients run it in test/core/mcp/clients.
describe('portico stdio', function () {
  this.timeout(60_000);
  let platform: HttpUpstream;

  before(async () => {
    const serveLists = lists({ tools: ITEMS });
    platform = await startHttpUpstream((request, response) => {
      if (tokenOf(request) !== TOKEN) return json({}, 401)(request, response);
      // Projects are never answered.
      if (listOf(request) !== 'projects') serveLists(request, response);
    });
  });

  /** Runs it with what `talk` sends, and waits for its exit. */
  async function run(talk: (portico: RunningProcess) => unknown): Promise<Ended> {
    const file = await settingsFile(SETTINGS);
    const portico = runStdio(file, { PLATFORM_URL: platform.url, PORTICO_TOKEN: TOKEN });
    await talk(portico);
    return portico.ended;
  }

  it('ends soon after its input while a read runs, and answers a last line without its end', async () => {
    const ended = await run(({ child }) => child.stdin.end(read('projects') + read('tools').trimEnd()));
    expect(ended.code).to.equal(1);
    expect(linesIn(ended.stdout).map(({ id }) => id)).to.deep.equal(['tools']);
  });

  it('ends at once with SIGTERM after its input, while a read runs', async () => {
    const { code, signal } = await run(async ({ child }) => {
      child.stdin.end(read('projects'));
      const asked = platform.requests.length;
      await eventually(() => platform.requests.length > asked);
      child.kill('SIGTERM');
    });
    expect({ code, signal }).to.deep.equal({ code: 1, signal: null });
  });
});
