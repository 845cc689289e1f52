import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/listening.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { endWithTest, MAIN, newFolder, porticoEnvironment, writeSettings } from '../../support/process/process.ts';
import { isAnswered } from '../../support/process/serving.ts';

/** So long that a process which waits for it fails the test. */
const NEVER_MS = 3_600_000;
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

interface Started {
  readonly child: ChildProcess;
  /** Base URL of the public listener. */
  readonly url: string;
  /** How the process ended: its exit code and its signal. */
  readonly ended: Promise<unknown[]>;
}

/** The writing end of a blocking pipe that is full, and that nobody reads. */
function openFullPipe(path: string): number {
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR);
  const filling = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  for (const length of [4096, 1]) {
    try {
      for (;;) writeSync(filling, Buffer.alloc(length));
    } catch {}
  }
  closeSync(filling);
  return fd;
}

describe('a process with a full, unread output', function () {
  this.timeout(60_000);
  let platformUrl = '';
  /** Requests that the platform has and does not answer. */
  let reads = 0;

  before(async () => {
    const platform = await startHttpUpstream(() => {
      reads += 1;
    });
    platformUrl = platform.url;
  });

  beforeEach(() => {
    reads = 0;
  });

  /** Starts `portico` with both outputs on such pipes, lets `talk` do so, and says how the process ended. */
  async function end(command: string, graceMs: number, talk: (started: Started) => unknown): Promise<unknown> {
    const folder = await newFolder();
    const port = await freePort();
    const upstreams = { tools: { baseUrl: platformUrl, timeoutMs: NEVER_MS } };
    const settings = { http: { port }, admin: { enabled: false }, shutdown: { graceMs }, upstreams };
    const file = await writeSettings(folder, JSON.stringify(settings));
    const module = join(folder, 'preload.mjs');
    await writeFile(module, "process.on('SIGUSR2', () => { throw new Error('crash'); });");
    const outputs = ['stdout', 'stderr'].map((name) => openFullPipe(join(folder, name)));
    const args = ['--import', pathToFileURL(module).href, MAIN, command, '--config', file];
    const child = spawn(process.execPath, args, {
      env: porticoEnvironment({ PORTICO_TOKEN: 'token-of-the-test' }),
      stdio: ['pipe', ...outputs],
    });
    endWithTest(child);
    child.stdin?.on('error', () => {}); // It ends with input left.
    const closePipes = onCleanup(() => outputs.forEach(closeSync));
    const ended = once(child, 'exit');
    await talk({ child, url: `http://127.0.0.1:${port}`, ended });
    const [code, signal] = await ended;
    closePipes();
    outputs.forEach(closeSync);
    expect(signal).to.equal(null);
    return code;
  }

  async function isReading(started: Started): Promise<void> {
    await eventually(() => isAnswered(started.url));
    const headers = { authorization: 'Bearer token-of-the-test' };
    fetch(`${started.url}/mcp/v1/resources/read?uri=platform://tools`, { headers }).catch(() => {});
    await eventually(() => reads === 1);
  }

  /** Sends a signal in the middle of a request. */
  const sends = (signal: NodeJS.Signals) => async (started: Started) => {
    await isReading(started);
    started.child.kill(signal);
  };

  /** Sends SIGTERM again once no connection is accepted any more. */
  async function terminatesTwice(started: Started): Promise<void> {
    await sends('SIGTERM')(started);
    await eventually(async () => !(await isAnswered(started.url)));
    started.child.kill('SIGTERM');
  }

  for (const [what, command, graceMs, talk] of [
    ['serve on SIGTERM', 'serve', 100, sends('SIGTERM')],
    ['serve on an uncaught error', 'serve', NEVER_MS, sends('SIGUSR2')],
    ['serve on a second SIGTERM within the grace time', 'serve', NEVER_MS, terminatesTwice],
    ['stdio at the end of its input', 'stdio', 100, ({ child }: Started) => child.stdin?.end(PING.repeat(20_000))],
  ] as const) {
    it(`ends ${what}`, async () => {
      expect(await end(command, graceMs, talk)).to.equal(1);
    });
  }
});
