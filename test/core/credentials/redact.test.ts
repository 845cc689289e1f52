import { inspect } from 'node:util';
import { expect } from 'chai';
import { mentionsCredential, redact, redactCredentials } from '../../../src/core/credentials/redact.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';

const brought = (...values: string[]) => values.map((value) => new Credential(value));

describe('a mention of a credential', () => {
  it('is found anywhere in a text', () => {
    expect(mentionsCredential('id-secret-1', brought('Bearer secret'))).to.equal(true);
    expect(mentionsCredential('id-secre-1', brought('Bearer secret'))).to.equal(false);
  });

  it('is found whatever the form of the header, and in each of several', () => {
    expect(mentionsCredential('id-c2VjcmV0', brought('Basic c2VjcmV0'))).to.equal(true);
    expect(mentionsCredential('id-secret', brought('secret'))).to.equal(true);
    expect(mentionsCredential('id-second', brought('Bearer first', 'Bearer second'))).to.equal(true);
  });

  it('is not made by the word Bearer, and not where there is no credential', () => {
    expect(mentionsCredential('bearer-of-news', brought('bearer secret'))).to.equal(false);
    expect(mentionsCredential('anything', brought())).to.equal(false);
    expect(mentionsCredential('anything', brought(''))).to.equal(false);
  });
});

describe('redacting', () => {
  it('replaces every occurrence, plain and percent-encoded', () => {
    expect(redact('a/b+c== at https://host/?t=a%2Fb%2Bc%3D%3D, a/b+c==', ['Bearer a/b+c=='])).to.equal(
      '[credential] at https://host/?t=[credential], [credential]',
    );
  });

  it('replaces what was escaped for JSON, a quoted text or a form', () => {
    const token = 'a"b\\c$&(~,{}';
    const forms = [
      token,
      JSON.stringify(token),
      inspect(token),
      encodeURIComponent(token),
      `${new URLSearchParams({ token })}`,
    ];
    for (const text of forms) {
      expect(redact(text, [`Bearer ${token}`]), text)
        .to.contain('[credential]')
        .and.not.contain('(~')
        .and.not.contain('%7E');
      expect(mentionsCredential(text, brought(`Bearer ${token}`)), text).to.equal(true);
    }
  });

  it('leaves nothing of a longer one behind where one begins the other, in whatever order and form they came', () => {
    for (const authorization of [['Bearer abc', 'Bearer abc-d'], ['Bearer abc-d', 'Bearer abc'], ['abc\tabc-d']]) {
      expect(redact('abc-d abc', authorization), String(authorization)).to.equal('[credential] [credential]');
    }
    // Percent-encoded, the one of fewer characters is the longer one.
    expect(redact('a%2Fb', ['a/b a%2F'])).to.equal('[credential]');
  });

  it('finds what is behind a tab', () => {
    expect(redact('the secret', ['Basic\tsecret'])).to.equal('the [credential]');
    expect(mentionsCredential('the secret', brought('Basic\tsecret'))).to.equal(true);
  });

  it('replaces what a caller brought', () => {
    expect(redactCredentials('of secret', brought('secret'))).to.equal('of [credential]');
  });

  it('takes what looks like an expression for what it is, and leaves what it put in alone', () => {
    expect(redact('x.y xzy', ['Bearer x.y'])).to.equal('[credential] xzy');
    expect(redact('(.*)', ['Digest (.*)'])).to.equal('[credential]');
    expect(redact('e', ['a b c d e'])).to.equal('[credential]');
  });

  it('leaves a text alone where there is no credential', () => {
    expect(redact('Error: at line 1', [])).to.equal('Error: at line 1');
  });
});
