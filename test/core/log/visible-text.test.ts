import { expect } from 'chai';
import fc from 'fast-check';
import { withVisibleText } from '../../../src/core/log/visible-text.ts';

/** What a terminal obeys, or a reader does not see: controls, format characters, separators. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('a JSON line with visible text', () => {
  it('escapes controls, bidi and zero-width characters, and tag characters', () => {
    const subject = 'a\u007f\u009b31m\u202eb\u2066c\u200bd\ufeff\u2028\u{e0041}';
    expect(withVisibleText(JSON.stringify(subject))).to.equal(
      String.raw`"a\u007f\u009b31m\u202eb\u2066c\u200bd\ufeff\u2028\udb40\udc41"`,
    );
  });

  it('leaves letters of every script and emoji as they are', () => {
    for (const text of ['Zürich', '東京', 'नमस्ते', 'שלום', '🛡️']) {
      expect(withVisibleText(JSON.stringify(text))).to.equal(JSON.stringify(text));
    }
  });

  it('parses to the same value, whatever the text, and holds nothing hidden', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = withVisibleText(JSON.stringify({ text }));
        expect(JSON.parse(line)).to.deep.equal({ text });
        expect(line).not.to.match(HIDDEN);
      }),
    );
  });
});
