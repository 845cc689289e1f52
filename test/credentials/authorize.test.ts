import { expect } from 'chai';
import { type CredentialSettings, createAuthorization } from '../../src/credentials/authorize.ts';
import { Credential } from '../../src/kernel/caller.ts';
import type { Authorize } from '../../src/upstream/with-authorization.ts';

const caller = { credential: new Credential('token-$1-of-the-test'), key: 'k', partition: 'p', requestId: 'r' };

async function authorization(settings: CredentialSettings) {
  const { callersOwn, authorize } = createAuthorization(settings);
  const given: Authorize = authorize;
  return [callersOwn, await given(caller, new AbortController().signal)];
}

describe('what an upstream is given', () => {
  it("is the caller's token as a bearer token, for passthrough", async () => {
    expect(await authorization({ kind: 'passthrough' })).to.deep.equal([
      true,
      { authorization: 'Bearer token-$1-of-the-test' },
    ]);
  });

  it("is the caller's token in another header and form, for header, whose name comes in lower case", async () => {
    expect(await authorization({ kind: 'header', name: 'X-Api-Key', format: '{token}' })).to.deep.equal([
      true,
      { 'x-api-key': 'token-$1-of-the-test' },
    ]);
    expect(await authorization({ kind: 'header', name: 'Authorization', format: 'Key "{token}", v=1' })).to.deep.equal([
      true,
      { authorization: 'Key "token-$1-of-the-test", v=1' },
    ]);
  });

  it('is nothing, for none', async () => {
    expect(await authorization({ kind: 'none' })).to.deep.equal([false, {}]);
  });
});
