import { expect } from 'chai';
import type { LogDestination } from '../../../src/core/log/destination.ts';
import { createLogger, type LoggerOptions } from '../../../src/core/log/logger.ts';
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

  describe('for a person', () => {
    function recorder(terminal?: { readonly hasColours: boolean }) {
      const lines: string[] = [];
      let flushes = 0;
      const destination: LogDestination = {
        terminal,
        write: (line) => {
          lines.push(line);
        },
        flushSync() {
          flushes += 1;
        },
      };
      return { destination, text: () => lines.join(''), flushes: () => flushes };
    }

    /** What is written of one line. */
    function written(options: Partial<LoggerOptions>, terminal?: { readonly hasColours: boolean }): string {
      const { destination, text } = recorder(terminal);
      const logger = createLogger({ level: 'info', destination, ...options });
      logger.warn({ resource: 'tools', status: 200, text: 'a\u001b[2Jb' }, 'request');
      return text();
    }

    it('says time, level, message and fields in a line, and nothing that a terminal obeys', () => {
      expect(written({ format: 'pretty' })).to.match(
        /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: request \{"resource":"tools","status":200,"text":"a\\u001b\[2Jb"\}\n$/,
      );
    });

    it('is written where settings say so, and otherwise to a terminal', () => {
      const terminal = { hasColours: false };
      for (const [format, on, json] of [
        [undefined, undefined, true],
        [undefined, terminal, true],
        ['auto', undefined, true],
        ['auto', terminal, false],
        ['json', terminal, true],
        ['pretty', undefined, false],
      ] as const) {
        const text = written(format === undefined ? {} : { format }, on);
        expect(text.startsWith('{"level":"warn"'), `${format} ${on}`).to.equal(json);
      }
    });

    it('has colours where the terminal has', () => {
      expect(written({ format: 'auto' }, { hasColours: true })).to.contain('\u001b[33mWARN');
      expect(written({ format: 'auto' }, { hasColours: false })).not.to.contain('\u001b');
      expect(written({ format: 'pretty' })).not.to.contain('\u001b');
    });

    it('shows the stack of a bug line by line, and has all written out after a fatal line', () => {
      const { destination, text, flushes } = recorder();
      const stack = 'TypeError: \u001b[2J\n    at a\n    at b';
      createLogger({ level: 'info', format: 'pretty', destination }).fatal({ error: 'TypeError', stack }, 'a bug');
      expect(text()).to.match(/\n +stack: TypeError: {2}\[2J\n +at a\n +at b\n$/);
      expect(flushes()).to.equal(1);
    });
  });
});
