import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/listening.ts';
import { MAIN, porticoEnvironment, startProcess } from '../../support/process/process.ts';
import { skipAloud } from '../../support/tools.ts';

/** Runs `portico` on a terminal of its own, at whose screen the test looks. */
async function startOnTerminal(context: Mocha.Context) {
  if (spawnSync('script', ['--version']).status !== 0) skipAloud(context, 'script (bsdutils) is not here');
  const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
  const command = [process.execPath, MAIN, '--demo'].map((word) => `'${word}'`).join(' ');
  const terminal = startProcess('script', ['--quiet', '--return', '--command', `exec ${command}`, '/dev/null'], {
    env: porticoEnvironment({ ...ports, TERM: 'xterm' }),
    stdin: 'open',
  });
  return {
    shows: (text: RegExp | string) =>
      eventually(() => (typeof text === 'string' ? terminal.stdout().includes(text) : text.test(terminal.stdout()))),
    screen: () => terminal.stdout(),
    ended: terminal.ended,
    /** Of `portico`, which `script` has started. */
    async processId(): Promise<number> {
      const { pid } = terminal.child;
      return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
    },
    /** What Ctrl-S does. */
    stop: () => terminal.child.stdin.write('\u0013'),
    /** What Ctrl-C does. */
    async interrupt() {
      terminal.child.stdin.write('\u0003');
      return (await terminal.ended).code;
    },
  };
}

describe('the log on a terminal', () => {
  it('is human-readable, and complete at the exit', async function () {
    const { shows, interrupt, screen } = await startOnTerminal(this);
    await shows('\u001b[32mINFO\u001b[39m: \u001b[36mlistening');
    await shows(/curl/);
    expect(await interrupt()).to.equal(0);
    expect(screen()).to.match(/INFO.*drained/);
    expect(screen()).not.to.match(/"level"/);
  });

  it('does not delay the exit while the terminal is stopped', async function () {
    const { shows, screen, stop, ended, processId } = await startOnTerminal(this);
    await shows('adminUrl');
    const [, url] = /"url":"([^"]+)"/.exec(screen()) ?? [];
    stop();
    let asked = 0;
    await eventually(async () => {
      await fetch(`${url}/mcp/v1/resources`);
      asked += 1;
      await sleep(300);
      return screen().split('"/mcp/v1/resources"').length - 1 < asked;
    });
    process.kill(await processId(), 'SIGTERM');
    expect((await ended).code).to.equal(0);
  });
});
