import { expect } from 'chai';
import fc from 'fast-check';
import { createLogger, type LoggerOptions } from '../../../src/core/log/logger.ts';
import { escapeHidden } from '../../../src/core/log/pretty.ts';
import { anyText } from '../../support/any-text.ts';
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

  it('writes all lines out after a fatal line, and after no other', () => {
    const { logger, flushes } = captureLog();
    logger.error('error');
    expect(flushes()).to.equal(0);
    logger.fatal('fatal');
    expect(flushes()).to.equal(1);
  });

  it('escapes controls, bidi, zero-width and tag characters, and no letters or emoji', () => {
    const { logger, text } = captureLog();
    logger.info({ subject: 'a\u007f\u009b31m\u202eb\u2066c\u200bd\ufeff\u2028\u{e0041} Zürich 東京 नमस्ते שלום 🛡️' }, 'x');
    expect(text()).to.contain(
      String.raw`"a\u007f\u009b31m\u202eb\u2066c\u200bd\ufeff\u2028\udb40\udc41 Zürich 東京 नमस्ते שלום 🛡️"`,
    );
  });

  it('escapes any text so that it parses to the same value', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const line = escapeHidden(JSON.stringify({ text }));
        expect(JSON.parse(line)).to.deep.equal({ text });
        expect(line).not.to.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  describe('for a person', () => {
    function recorder(terminal?: { readonly hasColours: boolean }) {
      const captured = captureLog();
      return { ...captured, destination: { ...captured.destination, terminal } };
    }

    /** What is written of one line. */
    function written(options: Partial<LoggerOptions>, terminal?: { readonly hasColours: boolean }): string {
      const { destination, text } = recorder(terminal);
      const logger = createLogger({ level: 'info', destination, ...options });
      logger.warn({ resource: 'tools', status: 200, text: 'a\u001b[2Jb' }, 'request');
      return text();
    }

    it('has time, level, message and fields on one line, without control characters', () => {
      expect(written({ format: 'pretty' })).to.match(
        /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: request \{"resource":"tools","status":200,"text":"a\\u001b\[2Jb"\}\n$/,
      );
    });

    it('has no character that a terminal obeys, or that a person does not see, raw', () => {
      const { destination, text } = recorder({ hasColours: false });
      const hidden = '\u0007\u007f\u009b31m\u202e\u2066\u200b\ufeff\u2028\u{e0041}';
      const logger = createLogger({ level: 'info', format: 'pretty', destination });
      const client = { name: hidden, version: '1' };
      logger.fatal({ subject: hidden, client, stack: `Error: ${hidden}\n    at ${hidden}` }, hidden);
      expect(text()).not.to.match(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(text()).to.contain(String.raw`"subject":"\u0007\u007f\u009b31m\u202e`);
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
