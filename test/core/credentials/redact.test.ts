import { inspect } from 'node:util';
import { expect } from 'chai';
import { mentionsCredential, redact, redactCredentials } from '../../../src/core/credentials/redact.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';

const brought = (...values: string[]) => values.map((value) => new Credential(value));

describe('a mention of a credential', () => {
  for (const [text, values, isMentioned] of [
    ['id-secret-1', ['Bearer secret'], true],
    ['id-secre-1', ['Bearer secret'], false],
    ['id-c2VjcmV0', ['Basic c2VjcmV0'], true],
    ['id-secret', ['secret'], true],
    ['the secret', ['Basic\tsecret'], true],
    ['id-second', ['Bearer first', 'Bearer second'], true],
    ['bearer-of-news', ['bearer secret'], false],
    ['anything', [], false],
    ['anything', [''], false],
  ] as const) {
    it(`is ${isMentioned ? '' : 'not '}found in ${text}, of ${JSON.stringify(values)}`, () => {
      expect(mentionsCredential(text, brought(...values))).to.equal(isMentioned);
    });
  }
});

describe('redacting', () => {
  it('replaces every occurrence, plain and percent-encoded', () => {
    expect(redact('a/b+c== at https://host/?t=a%2Fb%2Bc%3D%3D, a/b+c==', ['Bearer a/b+c=='])).to.equal(
      '[credential] at https://host/?t=[credential], [credential]',
    );
  });

  it('replaces what was escaped for JSON, a quoted text or a form', () => {
    const token = 'a"b\\c$&(~,{}';
    const inForm = `${new URLSearchParams({ token })}`;
    const forms = [token, JSON.stringify(token), inspect(token), encodeURIComponent(token), inForm];
    for (const text of forms) {
      expect(redact(text, [`Bearer ${token}`]), text)
        .to.contain('[credential]')
        .and.not.contain('(~')
        .and.not.contain('%7E');
      expect(mentionsCredential(text, brought(`Bearer ${token}`)), text).to.equal(true);
    }
  });

  it('leaves nothing of a credential that begins with another one, in any order and form', () => {
    for (const authorization of [['Bearer abc', 'Bearer abc-d'], ['Bearer abc-d', 'Bearer abc'], ['abc\tabc-d']]) {
      expect(redact('abc-d abc', authorization), String(authorization)).to.equal('[credential] [credential]');
    }
    // Percent-encoded, the one of fewer characters is the longer one.
    expect(redact('a%2Fb', ['a/b a%2F'])).to.equal('[credential]');
  });

  for (const [text, values, redacted] of [
    ['the secret', ['Basic\tsecret'], 'the [credential]'],
    // What looks like an expression is taken for what it is, and what was put in is left alone.
    ['x.y xzy', ['Bearer x.y'], '[credential] xzy'],
    ['(.*)', ['Digest (.*)'], '[credential]'],
    ['e', ['a b c d e'], '[credential]'],
    ['Error: at line 1', [], 'Error: at line 1'],
  ] as const) {
    it(`makes ${redacted} of ${text}, by ${JSON.stringify(values)}`, () => {
      expect(redact(text, values)).to.equal(redacted);
      expect(redactCredentials(text, brought(...values))).to.equal(redacted);
    });
  }
});
