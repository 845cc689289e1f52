import { expect } from 'chai';
import { createLogger } from '../../src/observability/logger.ts';
import { captureLog } from './captured-log.ts';

describe('the logger', () => {
  it('writes one JSON object a line, with a level in words and a time in UTC', () => {
    const { logger, text, lines } = captureLog();
    logger.info({ status: 200, missing: undefined }, 'request');
    logger.warn('two\nlines');
    const [first, second] = lines();
    expect(text()).to.match(
      /^\{"level":"info","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","status":200,"msg":"request"\}\n/,
    );
    expect(first).to.have.all.keys('level', 'time', 'status', 'msg');
    expect(second).to.include({ level: 'warn', msg: 'two\nlines' });
  });

  it('leaves out what is less severe than its level', () => {
    const warn = captureLog('warn');
    warn.logger.info('below');
    expect(warn.text()).to.equal('');
    warn.logger.error('above');
    expect(warn.text()).to.contain('above');
    const silent = captureLog('silent');
    silent.logger.fatal('below');
    expect(silent.text()).to.equal('');
  });

  it('has all written out after a fatal line, and after no other', () => {
    const { logger, flushes } = captureLog();
    logger.error('error');
    expect(flushes()).to.equal(0);
    logger.fatal('fatal');
    expect(flushes()).to.equal(1);
  });

  it('does not let a destination that fails at the end stand in the way of the end', () => {
    const destination = {
      write() {},
      flushSync() {
        throw new Error('gone');
      },
    };
    expect(() => createLogger({ level: 'info', destination }).fatal('fatal')).not.to.throw();
  });
});
