import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { comment, flow, key, oneLine, referring, scalar } from '../../../src/setup/init/yaml-text.ts';
import { anyText } from '../../support/any-text.ts';
import { SEEDED } from '../../support/seed.ts';

/** Any text, and what YAML, terminals and the environment take for something else. */
const hardText = fc.oneof(
  anyText({ maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        '\n',
        '\r',
        '\u0085',
        '\u2028',
        '\u2029',
        '\u001b[2J',
        '\u202e',
        '\ufeff',
        '#',
        ': ',
        '- ',
        '${HOME}',
        '"',
        "'",
        '\\',
        'a',
        ' ',
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join('')),
);

describe(`text from outside in a settings file ${SEEDED}`, () => {
  it('stays in its comment, whatever it holds', () => {
    fc.assert(
      fc.property(hardText, (text) => {
        const lines = comment(`It says ${oneLine(text)}.`, '  ');
        for (const line of lines) expect(line).to.match(/^ {2}# [^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u);
        expect(parse(`a: 1\n${lines.join('\n')}\nb: 2\n`)).to.deep.equal({ a: 1, b: 2 });
      }),
    );
  });

  it('stays on one line of bounded length', () => {
    expect(oneLine(`a\r\nb\u2028c\u001b[31m${'x'.repeat(10_000)}`)).to.match(/^a b c \[31mx{190,}…$/);
  });

  it('reads back as it was, as a value, a key and between brackets', () => {
    fc.assert(
      fc.property(hardText, hardText, (a, b) => {
        const text = b.replaceAll('${', () => '$${');
        expect(parse(`k: ${scalar(b)}\n`)).to.deep.equal({ k: text });
        expect(parse(`${key(a)}: 1\n`, { uniqueKeys: false })).to.deep.equal({ [a]: 1 });
        expect(parse(`k: ${flow({ [a]: b })}\n`)).to.deep.equal({ k: { [a]: text } });
        expect(parse(`k: ${referring(b)}\n`)).to.deep.equal({ k: b });
      }),
    );
  });

  it('is in quotes only where it must be', () => {
    expect(['limit', 'a.b', 'true', '7', '@', 'x-y', ''].map(scalar)).to.deep.equal([
      'limit',
      'a.b',
      '"true"',
      '"7"',
      '"@"',
      'x-y',
      '""',
    ]);
    expect([null, 7, true].map(scalar)).to.deep.equal(['null', '7', 'true']);
    expect(referring('https://${HOST}:8443/api/${A_B}')).to.equal('https://${HOST}:8443/api/${A_B}');
    expect(referring('${URL}')).to.equal('${URL}');
    expect(referring('/a b')).to.equal('"/a b"');
    expect(comment('')).to.deep.equal([]);
  });
});
