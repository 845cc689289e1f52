import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { createSubstitute, type Environment } from '../../../src/core/config/environment.ts';
import { plainValue } from '../../../src/core/config/yaml-file.ts';
import { atDepth } from '../../support/depth.ts';
import { issuesIn, load, UPSTREAMS } from './settings-file.ts';

const MALFORMED = `must be \${NAME} or \${NAME:-default}; a literal \${ is written $\${`;

describe('substitution', () => {
  const substitute = createSubstitute({ A: 'one', EMPTY: '', B_2: 'x${A}y', GONE: undefined });

  for (const [text, expected] of Object.entries({
    ...{ '${A}': 'one', '<${A}-${A}>': '<one-one>', '${A:-two}': 'one', '${EMPTY}': '', '${EMPTY:-two}': 'two' },
    ...{ '${NONE:-two}': 'two', '${NONE:-}': '', '${NONE:-a:-b\nc$}': 'a:-b\nc$', '$A {A} $ }': '$A {A} $ }', '': '' },
    // What is put in is not looked into.
    ...{ '$${A}': '${A}', '$$${A}': '$${A}', '$${': '${', '${B_2}': 'x${A}y' },
  })) {
    it(`makes ${JSON.stringify(text)} into ${JSON.stringify(expected)}`, () => {
      const { text: result, issues } = substitute(text);
      expect(result).to.equal(expected);
      expect(issues).to.deep.equal([]);
    });
  }

  it('names each missing variable once', () => {
    expect(substitute(`\${NONE}\${GONE}\${NONE}`).issues).to.deep.equal([
      'environment variable NONE is not set and has no default',
      'environment variable GONE is not set and has no default',
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

describe('values from the environment', () => {
  const port = async (value: string, environment = {}) =>
    (await load(`http:\n  port: ${value}\n${UPSTREAMS}`, environment)).settings.http.port;

  const queryOf = async (environment: object) =>
    (await load(`resources:\n  tools:\n    query:\n      q: \${Q}\n${UPSTREAMS}`, environment as Environment)).settings
      .resources.tools.query;

  it('are typed where they are written without quotes', async () => {
    expect(await port('${PORT}', { PORT: '81' })).to.equal(81);
    expect(await port('${PORT:-82}')).to.equal(82);
    expect(await port('8${REST}', { REST: '3' })).to.equal(83);
    const { settings: config } = await load(`admin:\n  enabled: \${ADMIN}\n${UPSTREAMS}`, { ADMIN: 'false' });
    expect(config.admin.enabled).to.equal(false);
  });

  it('have the type that the same text has in a file', () => {
    const parts = ['0', '7', '1', '.', 'e', '+', '-', 'x', 'o', 'f', '_', 'true', 'False', 'null', '~', '.inf', '.nan'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts, 'no'), { minLength: 1, maxLength: 5 }), (chosen) => {
        const text = chosen.join('');
        fc.pre(!['-', '...'].includes(text) && !text.startsWith('---'));
        expect(plainValue(text)).to.deep.equal(parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('stay text in quotes, in blocks of text and under a tag', async () => {
    for (const written of ['"${PORT}"', "'${PORT}'", '|-\n    ${PORT}', '!!str ${PORT}']) {
      expect(await issuesIn(`http:\n  port: ${written}\n${UPSTREAMS}`, { PORT: '81' })).to.deep.equal([
        `2:${written.startsWith('!') ? 15 : 9}: http.port: must be a number, without quotes and unit (the value is from the environment)`,
      ]);
    }
  });

  it('are empty text, and no null, where they are empty', async () => {
    expect(await issuesIn(`http:\n  port: \${PORT:-}\n${UPSTREAMS}`)).to.deep.equal([
      '2:9: http.port: must be a number, without quotes and unit (the value is from the environment)',
    ]);
    expect(await queryOf({ Q: '' })).to.deep.equal({ q: '' });
  });

  it('cannot add a key, list, block or alias', async () => {
    for (const value of ['{ a: 1 }', '[1]', 'a\nb: 1', '*a', '!x y', '# c', '"']) {
      const q = value.replace('\n', '\t');
      expect(await queryOf({ Q: q })).to.deep.equal({ q });
      const issue = '1:7: http: must be a block of keys, each as "key: value" (the value is from the environment)';
      expect(await issuesIn(`http: \${HTTP}\n${UPSTREAMS}`, { HTTP: value })).to.deep.equal([issue]);
    }
  });

  it('are a issue with name and place where they are missing, and hide no other issue', async () => {
    const yaml = `http:\n  prot: 1\n  port: \${PORT}\n  host: \${HOST}\nscheme: 5\n${UPSTREAMS}`;
    expect(await issuesIn(yaml, { PORT: undefined })).to.deep.equal([
      '2:3: http.prot: Unrecognized key; did you mean port?',
      '3:9: http.port: environment variable PORT is not set and has no default',
      '4:9: http.host: environment variable HOST is not set and has no default',
      '5:9: scheme: must be text: put it in quotes',
    ]);
  });

  it('are not taken into keys', async () => {
    expect(await issuesIn(`resources:\n  tools:\n    query: { "\${A}": b }\n${UPSTREAMS}`, { A: 'a' })).to.deep.equal([
      '3:14: resources.tools.query["${A}"]: Only values are taken from the environment',
    ]);
  });

  it('never change which keys there are', async () => {
    const keys = (value: unknown): unknown =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).map(([key, child]) => [key, keys(child)])
        : undefined;
    const yaml = `resources:\n  tools:\n    query:\n      a: \${A}\n      b: 'x\${A}'\n${UPSTREAMS}`;
    const expected = keys((await load(yaml, { A: 'a' })).settings);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme-ascii' }), async (value) => {
        expect(keys((await load(yaml, { A: value })).settings)).to.deep.equal(expected);
      }),
      { numRuns: atDepth(20, 200) },
    );
  });
});
