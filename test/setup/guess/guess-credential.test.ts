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
  const inQuery = { type: 'apiKey', in: 'query', name: 'key' };
  const own = { kind: 'header', name: 'X-Api-Key' };
  const authorization = (description: string) => ({ type: 'apiKey', in: 'header', name: 'Authorization', description });
  const as = (word: string) => ({ kind: 'header', name: 'Authorization', format: `${word} {token}` });
  for (const [name, schemes, expected] of [
    ['a bearer token', { bearer }, passthrough],
    ['OAuth 2', { oauth: { type: 'oauth2', flows: {} } }, passthrough],
    ['a header of its own', { key }, own],
    ['bearer rather than a header, where both are taken', { key, bearer }, passthrough],
    ['a header rather than a query parameter', { query: inQuery, key }, own],
    ['the word of the description', { token: authorization('Required prefix "Token"') }, as('Token')],
    ['Authorization with Bearer', { token: authorization('Bearer {token}') }, passthrough],
  ] as const) {
    it(`is ${name}`, () => {
      expect(credentialOf(schemes).credential).to.deep.equal(expected);
    });
  }

  it('is the one that the operations of the proposal ask for', () => {
    expect(credentialOf({ bearer, key }, [{ bearer: [] }], [{ key: [] }]).credential).to.deep.equal(own);
    expect(credentialOf({ bearer, key }, [{ key: [] }]).credential).to.deep.equal(own);
  });

  const host = { type: 'apiKey', in: 'header', name: 'Host' };
  for (const [name, schemes, doubt] of [
    ['no scheme is named', {}, 'which header takes the token: the document does not name one'],
    ['the key goes into the query', { query: inQuery }, 'of a kind that Portico cannot send'],
    ['Authorization has no word', { token: authorization('') }, 'which word precedes the token'],
    ['the header is one that may not be sent', { host }, 'the document names one that cannot be sent'],
  ] as const) {
    it(`is the usual one, in doubt, where ${name}`, () => {
      const { credential, doubts } = credentialOf(schemes);
      expect(credential).to.deep.equal(passthrough);
      expect(doubts).to.contain(doubt);
    });
  }
});
