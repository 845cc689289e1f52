import { expect } from 'chai';
import { mentionsCredential, scrub } from '../../src/credentials/mention.ts';

describe('a mention of a credential', () => {
  it('is found anywhere in a text', () => {
    expect(mentionsCredential('id-secret-1', ['Bearer secret'])).to.equal(true);
    expect(mentionsCredential('id-secre-1', ['Bearer secret'])).to.equal(false);
  });

  it('is found whatever the form of the header, and in each of several', () => {
    expect(mentionsCredential('id-c2VjcmV0', ['Basic c2VjcmV0'])).to.equal(true);
    expect(mentionsCredential('id-secret', ['secret'])).to.equal(true);
    expect(mentionsCredential('id-second', ['Bearer first', 'Bearer second'])).to.equal(true);
  });

  it('is not made by the word Bearer, and not where there is no credential', () => {
    expect(mentionsCredential('bearer-of-news', ['bearer secret'])).to.equal(false);
    expect(mentionsCredential('anything', [])).to.equal(false);
    expect(mentionsCredential('anything', [''])).to.equal(false);
  });
});

describe('scrubbing', () => {
  it('replaces every occurrence, plain and percent-encoded', () => {
    expect(scrub('a/b+c== at https://host/?t=a%2Fb%2Bc%3D%3D, a/b+c==', ['Bearer a/b+c=='])).to.equal(
      '[credential] at https://host/?t=[credential], [credential]',
    );
  });

  it('leaves nothing of a longer one behind where one is within the other', () => {
    expect(scrub('long-secret-1 secret', ['Bearer secret', 'Bearer long-secret-1'])).to.equal(
      '[credential] [credential]',
    );
  });

  it('takes what looks like an expression for what it is, and leaves what it put in alone', () => {
    expect(scrub('x.y xzy', ['Bearer x.y'])).to.equal('[credential] xzy');
    expect(scrub('(.*)', ['Digest (.*)'])).to.equal('[credential]');
    expect(scrub('e', ['a b c d e'])).to.equal('[credential]');
  });

  it('leaves a text alone where there is no credential', () => {
    expect(scrub('Error: at line 1', [])).to.equal('Error: at line 1');
  });
});
