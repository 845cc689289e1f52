import { expect } from 'chai';
import { createLogger } from '../../src/observability/logger.ts';
import { captureLog } from './captured-log.ts';

describe('the log', () => {
  it('is one JSON object a line, with a level in words and a time in UTC', () => {
    const { logger, lines } = captureLog();
    logger.info({ status: 200 }, 'request');
    logger.warn('two\nlines');
    const [first, second] = lines();
    expect(first).to.include({ level: 'info', status: 200, msg: 'request' });
    expect(first?.['time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(first).to.have.all.keys('level', 'time', 'status', 'msg');
    expect(second).to.include({ level: 'warn', msg: 'two\nlines' });
  });

  it('leaves out what is less severe than its level', () => {
    let text = '';
    const destination = {
      write(line: string) {
        text += line;
      },
      flushSync() {},
    };
    createLogger({ level: 'warn', destination }).info('below');
    createLogger({ level: 'silent', destination }).fatal('below');
    expect(text).to.equal('');
    createLogger({ level: 'warn', destination }).error('above');
    expect(text).to.contain('above');
  });
});
