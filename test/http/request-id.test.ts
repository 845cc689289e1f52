import { expect } from 'chai';
import fc from 'fast-check';
import { chooseRequestId } from '../../src/http/request-id.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('a request id', () => {
  it("is the caller's where that is well-formed", () => {
    for (const id of ['a', 'AZaz09._~:/+=@-', 'x'.repeat(128)])
      expect(chooseRequestId(id, ['Bearer token'])).to.equal(id);
  });

  for (const id of [
    undefined,
    '',
    'x'.repeat(129),
    'a b',
    'a,b',
    'a"b',
    'a\nb',
    'a%b',
    'é',
    '<a>',
    '{a}',
    'a\\b',
    'one, two',
  ]) {
    it(`is new for ${JSON.stringify(id)}`, () => {
      expect(chooseRequestId(id, [])).to.match(UUID);
    });
  }

  it('is new where it repeats the credential, well-formed or not', () => {
    expect(chooseRequestId('id:token', ['Bearer token'])).to.match(UUID);
    expect(chooseRequestId('id:token', ['Basic token', 'Bearer other'])).to.match(UUID);
  });

  it('is new each time', () => {
    expect(chooseRequestId(undefined, [])).not.to.equal(chooseRequestId(undefined, []));
  });

  it('needs no escaping anywhere, whatever was brought', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (brought) => {
        const id = chooseRequestId(brought, []);
        return (
          JSON.stringify(id) === `"${id}"` &&
          /^[\x21-\x7e]{1,128}$/.test(id) &&
          new URL(`urn:portico:request:${id}`).pathname.endsWith(id)
        );
      }),
    );
  });
});
