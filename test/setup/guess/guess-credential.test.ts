import { expect } from 'chai';
import { list, listing, openApi, proposedFor } from '../proposed.ts';

function credentialOf(securitySchemes: object, security?: object, ofOperation?: object) {
  const get = listing(list(), ofOperation === undefined ? {} : { security: ofOperation });
  const more = { components: { securitySchemes }, ...(security !== undefined && { security }) };
  const { written, doubts } = proposedFor(openApi({ '/projects': get }, more));
  return { credential: Object.values(written.upstreams)[0]?.['credential'], doubts: doubts.join('\n') };
}

const bearer = { type: 'http', scheme: 'bearer' };
const key = { type: 'apiKey', in: 'header', name: 'X-Api-Key' };
const passthrough = { kind: 'passthrough' };

describe('the credential by a document', () => {
  for (const [name, schemes, expected] of [
    ['a bearer token', { bearer }, passthrough],
    ['OAuth 2', { oauth: { type: 'oauth2', flows: {} } }, passthrough],
    ['a header of its own', { key }, { kind: 'header', name: 'X-Api-Key' }],
    ['bearer rather than a header, where both are taken', { key, bearer }, passthrough],
    [
      'a header rather than a query parameter',
      { query: { type: 'apiKey', in: 'query', name: 'key' }, key },
      { kind: 'header', name: 'X-Api-Key' },
    ],
    [
      'basic credentials',
      { basic: { type: 'http', scheme: 'basic' } },
      { kind: 'header', name: 'Authorization', format: 'Basic {token}' },
    ],
    [
      'Authorization with the word of its description',
      { token: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'Required prefix "Token"' } },
      { kind: 'header', name: 'Authorization', format: 'Token {token}' },
    ],
    [
      'Authorization with Bearer',
      { token: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'Bearer {token}' } },
      passthrough,
    ],
  ] as const) {
    it(`is ${name}`, () => {
      expect(credentialOf(schemes).credential).to.deep.equal(expected);
    });
  }

  it('is the one that the operations of the proposal ask for', () => {
    expect(credentialOf({ bearer, key }, [{ bearer: [] }], [{ key: [] }]).credential).to.deep.equal({
      kind: 'header',
      name: 'X-Api-Key',
    });
    expect(credentialOf({ bearer, key }, [{ key: [] }]).credential).to.deep.equal({
      kind: 'header',
      name: 'X-Api-Key',
    });
  });

  for (const [name, schemes, doubt] of [
    ['no scheme is named', {}, 'which header takes the token: the document does not name one'],
    [
      'the key goes into the query',
      { query: { type: 'apiKey', in: 'query', name: 'key' } },
      'of a kind that Portico cannot send',
    ],
    [
      'Authorization has no word',
      { token: { type: 'apiKey', in: 'header', name: 'Authorization' } },
      'which word precedes the token',
    ],
    [
      'the header is one that may not be sent',
      { host: { type: 'apiKey', in: 'header', name: 'Host' } },
      'the document names one that cannot be sent',
    ],
  ] as const) {
    it(`is the usual one, in doubt, where ${name}`, () => {
      const { credential, doubts } = credentialOf(schemes);
      expect(credential).to.deep.equal(passthrough);
      expect(doubts).to.contain(doubt);
    });
  }

  it('has a doubt if the platform requires another one, too', () => {
    const app = { type: 'apiKey', in: 'header', name: 'X-App-Key' };
    const { credential, doubts } = credentialOf({ key, app }, [{ key: [], app: [] }]);
    expect(credential).to.deep.equal({ kind: 'header', name: 'X-Api-Key' });
    expect(doubts).to.contain('what else the platform requires besides the token: X-App-Key');
  });
});
