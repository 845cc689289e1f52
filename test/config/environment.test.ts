import { expect } from 'chai';
import fc from 'fast-check';
import { createSubstitute, processEnvironment } from '../../src/config/environment.ts';

const MALFORMED = `must be \${NAME} or \${NAME:-default}; a literal \${ is written $\${`;

describe('substitution', () => {
  const substitute = createSubstitute({ A: 'one', EMPTY: '', B_2: 'x${A}y', GONE: undefined });

  for (const [text, expected] of [
    [`\${A}`, 'one'],
    [`<\${A}-\${A}>`, '<one-one>'],
    [`\${A:-two}`, 'one'],
    [`\${EMPTY}`, ''],
    [`\${EMPTY:-two}`, 'two'],
    [`\${NONE:-two}`, 'two'],
    [`\${NONE:-}`, ''],
    [`\${NONE:-a:-b\nc$}`, 'a:-b\nc$'],
    [`$\${A}`, `\${A}`],
    [`$$\${A}`, `$\${A}`],
    [`$\${`, `\${`],
    ['$A {A} $ }', '$A {A} $ }'],
    ['', ''],
  ] as const) {
    it(`makes ${JSON.stringify(text)} into ${JSON.stringify(expected)}`, () => {
      const { text: result, issues } = substitute(text);
      expect(result).to.equal(expected);
      expect(issues).to.deep.equal([]);
    });
  }

  it('does not look into what it put in', () => {
    expect(substitute(`\${B_2}`).text).to.equal(`x\${A}y`);
  });

  it('tells whether anything was taken from the environment, defaults included', () => {
    expect(substitute(`\${A}`).fromEnvironment).to.equal(true);
    expect(substitute(`\${NONE:-a}`).fromEnvironment).to.equal(true);
    expect(substitute(`$\${A}`).fromEnvironment).to.equal(false);
  });

  it('names each missing variable once', () => {
    expect(substitute(`\${NONE}\${GONE}\${NONE}`).issues).to.deep.equal([
      'environment variable NONE is not set, and there is no default',
      'environment variable GONE is not set, and there is no default',
    ]);
  });

  it('takes nothing that an object has by birth for a variable', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(substitute(`\${${name}}`).issues).to.have.length(1);
      expect(substitute(`\${${name}:-a}`).text).to.equal('a');
    }
  });

  for (const text of [`\${}`, `\${1A}`, `\${A`, `\${A-b}`, `\${A:b}`, `\${ A }`, `\${A.B}`, `\${A:-\${A}}`, `\${`]) {
    it(`refuses ${text}`, () => {
      expect(substitute(text).issues).to.deep.equal([MALFORMED]);
    });
  }

  it('takes 1 MiB from the environment at most, all scalars of a file together', () => {
    const large = createSubstitute({ HALF: 'x'.repeat(524_288) });
    expect(large(`\${HALF}`).issues).to.deep.equal([]);
    expect(large(`\${HALF}`).issues).to.deep.equal([]);
    expect(large(`\${NONE:-x}`).issues).to.deep.equal([
      'takes more than 1 MiB from the environment, with all before it',
    ]);
    const begun = performance.now();
    expect(createSubstitute({ A: 'x'.repeat(131_072) })(`\${A}`.repeat(250_000)).issues).to.have.length(1);
    expect(performance.now() - begun).to.be.lessThan(3000);
  });

  it('takes linear time for whatever text', () => {
    const begun = performance.now();
    for (const part of [`\${`, '$', `$\${`, `\${A:-`, `\${A`]) substitute(part.repeat(300_000));
    expect(performance.now() - begun).to.be.lessThan(3000);
  });

  it('leaves text alone once its ${ is escaped', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('$', '{', '}', 'A', ':-', 'é', '\n')), (parts) => {
        const text = parts.join('');
        const { text: result, issues } = substitute(text.replaceAll(`\${`, () => `$\${`));
        expect(result).to.equal(text);
        expect(issues).to.deep.equal([]);
      }),
    );
  });
});

describe('the environment of the process', () => {
  it('is taken with an overlay on top, and is not changed by it', () => {
    const environment = processEnvironment({ PORTICO_TEST_OVERLAY: 'a', PATH: 'b' });
    expect(environment).to.include({ PORTICO_TEST_OVERLAY: 'a', PATH: 'b' });
    expect(process.env['PORTICO_TEST_OVERLAY']).to.equal(undefined);
    expect(processEnvironment()['PATH']).to.equal(process.env['PATH']);
  });
});
