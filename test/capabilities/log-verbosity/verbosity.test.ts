import { expect } from 'chai';
import {
  type AdjustableLogger,
  createVerbosity,
  type Verbosity,
} from '../../../src/capabilities/log-verbosity/verbosity.ts';
import { logEvents } from '../../../src/core/log/log.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { eventually } from '../../support/eventually.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

function verboseLog(level: 'info' | 'warn' | 'silent' = 'info') {
  const captured = captureLog(level);
  let now = 0;
  const verbosity = createVerbosity(captured.logger as AdjustableLogger, () => now);
  const events = logEvents(captured.logger, verbosity);
  return {
    ...captured,
    verbosity,
    /** Messages of what is written of one page that was fetched for this request, and of its end. */
    told(requestId: string, traceId?: string): unknown[] {
      const before = captured.lines().length;
      events.pageFetched?.({ requestId, traceId, upstream: 'tools', method: 'GET', ms: 1, bytes: 2, status: 200 });
      events.requestEnded?.({ edge: 'http', requestId, traceId, begun: 0, ms: 0, outcome: 'ok', bytes: 0 });
      return captured
        .lines()
        .slice(before)
        .map(({ msg }) => msg);
    },
    pass(ms: number) {
      now += ms;
    },
  };
}

/** Ends what a test has begun, so that its timer holds nothing. */
const reset = (verbosity: Verbosity) => verbosity.change({ forMs: 1000 });

describe('the verbosity of the log', () => {
  it('has all lines of one request, by its id or its trace, and the usual ones of others', () => {
    const { verbosity, told } = verboseLog('warn');
    expect(told('r-1')).to.deep.equal([]);
    verbosity.change({ requestIds: ['r-1'], traceIds: [TRACE], forMs: 60_000 });
    expect(told('r-1')).to.deep.equal(['page fetched', 'request']);
    expect(told('r-2', TRACE)).to.deep.equal(['page fetched', 'request']);
    expect(told('r-2', TRACE.replace('4', '5'))).to.deep.equal([]);
    expect(told('r-3')).to.deep.equal([]);
    reset(verbosity);
    expect(told('r-1')).to.deep.equal([]);
  });

  it('has more or fewer lines for all requests; a change replaces the one before', () => {
    const { verbosity, told } = verboseLog();
    expect(told('r-1')).to.deep.equal(['request']);
    verbosity.change({ level: 'debug', forMs: 60_000 });
    expect(told('r-1')).to.deep.equal(['page fetched', 'request']);
    verbosity.change({ level: 'error', requestIds: ['r-2'], forMs: 60_000 });
    expect(told('r-1')).to.deep.equal([]);
    expect(told('r-2')).to.deep.equal(['page fetched', 'request']);
    reset(verbosity);
    expect(told('r-2')).to.deep.equal(['request']);
  });

  it('has a state, with the remaining time', () => {
    const { verbosity, pass } = verboseLog();
    verbosity.change({ level: 'debug', forMs: 60_000 });
    pass(15_000);
    expect(verbosity.state()).to.include({ level: 'debug', remainingMs: 45_000 });
    reset(verbosity);
  });

  it('is restored after the time of the change', async () => {
    const { verbosity, told, lines } = verboseLog();
    verbosity.change({ level: 'debug', requestIds: ['r-1'], forMs: 5 });
    await eventually(() => verbosity.state().remainingMs === undefined);
    expect(lines().at(-1)).to.include({ level: 'warn', logLevel: 'info', msg: 'log level of the settings restored' });
    expect(told('r-1')).to.deep.equal(['request']);
  });

  it('is not restored by the timer of an earlier change', async () => {
    const { verbosity } = verboseLog();
    verbosity.change({ level: 'debug', forMs: 1 });
    verbosity.change({ level: 'error', forMs: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(verbosity.state().level).to.equal('error');
    reset(verbosity);
  });

  it('reports each change, whatever the level', () => {
    const { verbosity, lines } = verboseLog('silent');
    verbosity.change({ level: 'error', requestIds: ['r-1'], forMs: 60_000 });
    expect(lines()).to.have.length(1);
    expect(lines()[0]).to.deep.include({
      level: 'warn',
      logLevel: 'error',
      requestIds: ['r-1'],
      remainingMs: 60_000,
      msg: 'log level changed',
    });
    reset(verbosity);
  });
});
