import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { describeBug, nextSignal } from '../../src/commands/process-end.ts';
import { catchSignals } from '../../src/commands/signals.ts';
import { captureLog } from '../core/log/captured-log.ts';
import { inFolder, porticoEnvironment, startProcess } from '../support/process/process.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const;

describe('a signal', () => {
  afterEach(() => mock.restoreAll());

  it('drains; the next one ends at once, and waits for no reader of the log', async () => {
    const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
    const { logger, lines } = captureLog('debug');
    const calls: unknown[] = [];
    mock.method(process, 'exit', (code?: number) => {
      calls.push(['exit', code]);
      throw new Error('exit');
    });
    const endsAtOnce = (signal: NodeJS.Signals) => expect(() => process.emit(signal, signal)).to.throw('exit');
    catchSignals();
    try {
      endsAtOnce('SIGTERM');
      expect(calls).to.deep.equal([['exit', undefined]]);
      const destination = {
        write() {},
        droppedLines: () => 0,
        flushSync: (waitMs?: number) => calls.push(['flush', waitMs]),
      };
      let hasFiles = true;
      const signalled = nextSignal(logger, destination, { reopen: () => hasFiles });
      process.emit('SIGUSR2', 'SIGUSR2');
      hasFiles = false;
      process.emit('SIGUSR2', 'SIGUSR2');
      process.emit('SIGHUP', 'SIGHUP');
      process.emit('SIGUSR1', 'SIGUSR1');
      process.emit('SIGINT', 'SIGINT');
      expect(await signalled).to.equal('SIGINT');
      expect(calls).to.have.length(1);
      expect(lines().map(({ level, signal }) => [level, signal])).to.deep.equal([
        ['debug', 'SIGUSR2'],
        ['debug', 'SIGHUP'],
        ['debug', 'SIGUSR1'],
      ]);
      endsAtOnce('SIGTERM');
      expect(calls.slice(1)).to.deep.equal([
        ['flush', 0],
        ['exit', 1],
      ]);
    } finally {
      for (const signal of SIGNALS) {
        for (const listener of process.listeners(signal)) {
          if (before.get(signal)?.includes(listener) !== true) process.off(signal, listener);
        }
      }
    }
  });
});

describe('the end of a process', () => {
  it('waits for nothing in the thread pool while a name is being looked up, and has its exit code', async function () {
    if (process.platform !== 'linux') this.skip();
    await inFolder(async (folder) => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      // A name server that is silent needs rights to set up: a pipe that nobody writes into takes a thread as well.
      const source = `
        import { open } from 'node:fs';
        import { endProcess } from ${JSON.stringify(new URL('../../src/commands/process-end.ts', import.meta.url))};
        open(${JSON.stringify(pipe)}, 'r', () => {});
        process.getActiveResourcesInfo = () => ['GetAddrInfoReqWrap'];
        process.once('exit', (code) => process.stdout.write('last words of ' + code));
        setTimeout(() => endProcess(3), 50);`;
      const { ended } = startProcess(process.execPath, ['--input-type=module', '--eval', source], {
        env: porticoEnvironment(),
      });
      const { code, stdout, stderr } = await ended;
      expect({ code, stdout, stderr }).to.deep.equal({ code: 3, stdout: 'last words of 3', stderr: '' });
    });
  });
});

describe('the report of an uncaught error', () => {
  const SECRET = 'token-that-nobody-may-read';
  const changed = new Error(`a\n    at ${SECRET}`);
  changed.message = 'b\n';
  const unreadable = Object.defineProperty(new Error('x'), 'stack', {
    get() {
      throw new Error(SECRET);
    },
  });
  for (const [what, error, kind] of [
    ['whose message looks like a stack', new Error(`one\n    at ${SECRET}\n    at two`), 'Error'],
    ['whose message was changed', changed, 'Error'],
    ['with a name of its own', Object.assign(new Error('x'), { name: `Bearer ${SECRET}` }), 'Error'],
    ['without a stack', Object.assign(new Error(SECRET), { stack: undefined }), 'Error'],
    ['that cannot be read', unreadable, 'Error'],
    ['that is text', SECRET, 'string'],
    ['that is nothing', undefined, 'undefined'],
  ] as const) {
    it(`is its kind, and nothing of its text: one ${what}`, () => {
      const told = describeBug(error);
      expect(told).to.include({ error: kind });
      expect(JSON.stringify(told)).not.to.contain(SECRET);
    });
  }
});
