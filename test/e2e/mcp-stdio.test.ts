import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type HttpUpstream, startHttpUpstream } from '../support/http-upstream.ts';
import { inFolder, MAIN, runPortico, writeSettings } from '../support/process.ts';

const SETTINGS = `
upstreams: { platform: { baseUrl: "\${PLATFORM_URL}" } }
resources:
  projects: { upstream: platform }
  workflows: { upstream: platform }
  tools: { upstream: platform }
mcp: { stdio: { token: "\${PORTICO_TOKEN:-}" } }
`;
const ITEMS = [{ id: 'a', name: 'A', version: '1.0.0', category: 'c', description: '' }];
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

/** What a process wrote, and how it ended. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe('portico stdio', function () {
  this.timeout(30_000);
  let platform: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream((request, response) => {
      const refused = request.headers.authorization !== 'Bearer token-of-the-test';
      response.writeHead(refused ? 401 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ tools: ITEMS, projects: [], workflows: [] }));
    });
  });

  after(() => platform.close());

  const environment = (token: string): Record<string, string> => {
    const { PATH = '', NODE_V8_COVERAGE, NODE_OPTIONS } = process.env;
    return {
      PATH,
      ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }),
      ...(NODE_OPTIONS !== undefined && { NODE_OPTIONS }),
      PLATFORM_URL: platform.url,
      PORTICO_TOKEN: token,
    };
  };

  /** Runs it, lets `talk` do so, and waits for its end. */
  async function run(talk: (child: ChildProcess, stdout: () => string) => unknown): Promise<Ended> {
    return inFolder(async (folder) => {
      const file = await writeSettings(folder, SETTINGS);
      const child = spawn(process.execPath, [MAIN, 'stdio', '--config', file], {
        env: environment('token-of-the-test'),
      });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (text) => {
        stdout += text;
      });
      child.stderr.on('data', (text) => {
        stderr += text;
      });
      const closed = once(child, 'close');
      await talk(child, () => stdout);
      const [code, signal] = await closed;
      return { code, signal, stdout, stderr };
    });
  }

  for (const [mode, version] of [
    ['legacy', '2025-11-25'],
    ['auto', '2026-07-28'],
  ] as const) {
    it(`serves the SDK's client in mode ${mode}, and ends with it`, async () => {
      await inFolder(async (folder) => {
        const file = await writeSettings(folder, SETTINGS);
        for (const token of ['token-of-the-test', 'another']) {
          const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
          const transport = new StdioClientTransport({
            command: process.execPath,
            args: [MAIN, 'stdio', '--config', file],
            env: environment(token),
            stderr: 'ignore',
          });
          await client.connect(transport);
          expect(client.getNegotiatedProtocolVersion()).to.equal(version);
          const { pid } = transport;
          const reading = client.readResource({ uri: 'platform://tools' });
          if (token === 'another') {
            const error = await reading.catch((reason) => reason);
            expect(error).to.include({ code: 401 });
            expect(error.data).to.include({ code: 'credential_rejected' });
          } else {
            expect((await reading).contents[0]).to.include({ text: JSON.stringify(ITEMS) });
          }
          await client.close();
          await eventually(() => isGone(pid) || undefined);
        }
      });
    });
  }

  it('answers what was asked before its input ended, and exits with 0', async () => {
    const { code, stdout, stderr } = await run((child) => child.stdin?.end(PING));
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ jsonrpc: '2.0', id: 1, result: {} });
    expect(JSON.parse(stderr)).to.include({ msg: 'request', rpc: 'ping', outcome: 'ok' });
  });

  it('exits with 0 after a signal', async () => {
    const { code, signal, stdout } = await run(async (child, answers) => {
      child.stdin?.write(PING);
      await eventually(() => answers() || undefined);
      child.kill('SIGTERM');
    });
    expect({ code, signal }).to.deep.equal({ code: 0, signal: null });
    expect(stdout.split('\n')).to.have.length(2);
  });

  it('ends when nobody reads its answers any more', async () => {
    const { code } = await run(async (child) => {
      child.stdout?.destroy();
      child.stdin?.on('error', () => {});
      child.stdin?.write(PING.repeat(50));
    });
    expect(code).to.be.oneOf([0, 1]);
  });

  for (const [token, told] of [
    ['', 'mcp.stdio.token: is empty'],
    ['two words', 'mcp.stdio.token: is no bearer token'],
  ] as const) {
    it(`does not start with the token ${JSON.stringify(token)}, and says what to set`, async () => {
      await inFolder(async (folder) => {
        const file = await writeSettings(folder, SETTINGS);
        const { code, stdout, stderr } = await runPortico(['stdio', '--config', file], environment(token)).ended;
        expect(code).to.equal(2);
        expect(stdout).to.equal('');
        expect(stderr).to.contain(told).and.not.contain('two words');
      });
    });
  }
});

function isGone(pid: number | null): boolean {
  try {
    process.kill(pid ?? 0, 0);
    return false;
  } catch {
    return true;
  }
}
