import { expect } from 'chai';
import { createVerbosity, isAdjustable, type Verbosity } from '../../../src/capabilities/log-verbosity/verbosity.ts';
import { logEvents } from '../../../src/core/log/log.ts';
import type { Logger } from '../../../src/core/log/logger.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { eventually } from '../../support/eventually.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

function verboseLog(level: 'info' | 'warn' | 'silent' = 'info') {
  const captured = captureLog(level);
  const { logger } = captured;
  if (!isAdjustable(logger)) throw new Error('the logger is no pino logger');
  let now = 0;
  const verbosity = createVerbosity(logger, () => now);
  const events = logEvents(verbosity.logger, { verbosity });
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

describe('what the log says', () => {
  it('is more for one request, by its id or its trace, and as ever for the others', () => {
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

  it('is more or less for all, and what was asked for last replaces what was asked for before', () => {
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

  it('leaves a logger alone that may be that of others', () => {
    const { verbosity, logger, text } = verboseLog('warn');
    verbosity.change({ level: 'debug', forMs: 60_000 });
    const before = text();
    logger.info('of another part of the program');
    expect(text()).to.equal(before);
    expect(logger.level).to.equal('warn');
    reset(verbosity);
  });

  it('can be looked at, with the time that is left', () => {
    const { verbosity, pass } = verboseLog();
    const usual = { level: 'info', requestIds: [], traceIds: [], remainingMs: undefined };
    expect(verbosity.state).to.deep.equal(usual);
    verbosity.change({ level: 'debug', requestIds: ['r-1'], forMs: 60_000 });
    pass(15_000);
    expect(verbosity.state).to.deep.equal({
      level: 'debug',
      requestIds: ['r-1'],
      traceIds: [],
      remainingMs: 45_000,
    });
    reset(verbosity);
    expect(verbosity.state).to.deep.equal(usual);
  });

  it('goes back by itself', async () => {
    const { verbosity, told, lines } = verboseLog();
    verbosity.change({ level: 'debug', requestIds: ['r-1'], forMs: 5 });
    await eventually(() => verbosity.state.remainingMs === undefined);
    expect(lines().at(-1)).to.include({ level: 'warn', logLevel: 'info', msg: 'log as settings have it' });
    expect(told('r-1')).to.deep.equal(['request']);
  });

  it('is not ended by the time that an earlier change was for', async () => {
    const { verbosity } = verboseLog();
    verbosity.change({ level: 'debug', forMs: 1 });
    verbosity.change({ level: 'error', forMs: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(verbosity.state.level).to.equal('error');
    reset(verbosity);
  });

  it('follows settings that change, at once or once it goes back', () => {
    const { verbosity, told } = verboseLog();
    verbosity.follow('warn');
    expect(told('r-1')).to.deep.equal([]);
    verbosity.change({ level: 'debug', forMs: 60_000 });
    verbosity.follow('info');
    expect(verbosity.state.level).to.equal('debug');
    reset(verbosity);
    expect(verbosity.state.level).to.equal('info');
    expect(told('r-1')).to.deep.equal(['request']);
  });

  it('follows settings at once where one request is told in detail, and the level was left as it is', () => {
    const { verbosity, told } = verboseLog();
    verbosity.change({ requestIds: ['r-1'], forMs: 60_000 });
    verbosity.follow('warn');
    expect(verbosity.state).to.deep.include({ level: 'warn', requestIds: ['r-1'], remainingMs: 60_000 });
    expect(told('r-2')).to.deep.equal([]);
    expect(told('r-1')).to.deep.equal(['page fetched', 'request']);
    reset(verbosity);
  });

  it('is told whenever it changes, whatever the level', () => {
    const { verbosity, lines } = verboseLog('silent');
    verbosity.change({ level: 'error', requestIds: ['r-1'], forMs: 60_000 });
    expect(lines()).to.have.length(1);
    expect(lines()[0]).to.deep.include({
      level: 'warn',
      logLevel: 'error',
      requestIds: ['r-1'],
      remainingMs: 60_000,
      msg: 'log changed',
    });
    reset(verbosity);
  });

  it('cannot be changed where the logger has no levels of its own to change', () => {
    const { debug, info, warn, error, fatal } = captureLog().logger;
    const plain: Logger = { debug, info, warn, error, fatal };
    expect(isAdjustable(plain)).to.equal(false);
  });

  it('cannot be changed either where the level of its children cannot be set', () => {
    const { logger } = captureLog();
    expect(isAdjustable(Object.freeze(logger))).to.equal(false);
    const { debug, info, warn, error, fatal } = captureLog().logger;
    const fixed = Object.defineProperty({ debug, info, warn, error, fatal }, 'level', { get: () => 'info' });
    const parent: Logger = { debug, info, warn, error, fatal, level: 'info', child: () => fixed };
    expect(isAdjustable(parent)).to.equal(false);
    const deaf = Object.defineProperty({ debug, info, warn, error, fatal }, 'level', { get: () => 'warn', set() {} });
    expect(isAdjustable({ ...parent, child: () => deaf })).to.equal(false);
  });
});
