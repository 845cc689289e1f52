import { mock } from 'node:test';
import { expect } from 'chai';
import { nextSignal } from '../../src/commands/process-end.ts';
import { catchSignals } from '../../src/commands/signals.ts';
import { captureLog } from '../observability/captured-log.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const;

describe('a signal', () => {
  afterEach(() => mock.restoreAll());

  it('asks for the end; the next one ends at once, and waits for no reader of the log', async () => {
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
      const destination = { write() {}, flushSync: (waitMs?: number) => calls.push(['flush', waitMs]) };
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
