import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { block, comment, entry, inlineYaml, oneLine, referring } from '../../../src/setup/init/yaml-text.ts';
import { anyText } from '../../support/any-text.ts';
import { SEEDED } from '../../support/seed.ts';

/** Any text, and what YAML, terminals and the environment interpret. */
const PARTS = [
  ...['\n', '\r', '\u0085', '\u2028', '\u001b[2J', '\u202e', '\ufeff', '#', ': ', '- ', '${HOME}', '"', "'", '\\'],
  ...['a', ' '],
];
const hardText = fc.oneof(
  anyText({ maxLength: 400 }),
  fc.array(fc.constantFrom(...PARTS), { maxLength: 40 }).map((parts) => parts.join('')),
);
const printable = fc.string({ unit: fc.constantFrom(...'abc#:-{}[]"\'\\$@*&!|>%? ,0123ntrue~', '${') });

describe(`text from outside in a settings file ${SEEDED}`, () => {
  it('stays in its comment', () => {
    fc.assert(
      fc.property(hardText, (text) => {
        const yaml = [...comment(`It is ${oneLine(text)}.`), entry('a', 1, text)].join('\n');
        expect(yaml).to.match(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/mu);
        expect(parse(yaml)).to.deep.equal({ a: 1 });
      }),
    );
  });

  it('stays on one line of bounded length', () => {
    expect(oneLine(`a\r\nb\u2028c\u001b[31m${'x'.repeat(10_000)}`)).to.match(/^a b c\[31mx{190,}…$/);
    expect(comment('')).to.deep.equal([]);
  });

  it('is read back as it was, as a key, a value and on one line, with escaped references', () => {
    fc.assert(
      fc.property(printable, printable, (key, text) => {
        const escaped = text.replaceAll('${', () => '$${');
        expect(parse(inlineYaml({ [key]: text }))).to.deep.equal({ [key]: escaped });
        const lines = block(key, [entry(key, text), entry(`${key}x`, referring(text))]);
        expect(parse(lines.join('\n'))).to.deep.equal({ [key]: { [key]: escaped, [`${key}x`]: text } });
      }),
    );
  });
});
