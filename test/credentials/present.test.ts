import { expect } from 'chai';
import { type CredentialSettings, createPresenter } from '../../src/credentials/present.ts';
import { Credential } from '../../src/kernel/caller.ts';
import type { Presenter } from '../../src/upstream/upstream.ts';

const credential = new Credential('token-$1-of-the-test');

function present(settings: CredentialSettings): [callersOwn: boolean, headers: Readonly<Record<string, string>>] {
  const presenter: Presenter = createPresenter(settings);
  return [presenter.callersOwn, presenter.headers(credential)];
}

describe('what an upstream is given', () => {
  it("is the caller's token as a bearer token, for passthrough", () => {
    expect(present({ kind: 'passthrough' })).to.deep.equal([true, { authorization: 'Bearer token-$1-of-the-test' }]);
  });

  it("is the caller's token in another header and form, for header", () => {
    expect(present({ kind: 'header', name: 'X-Api-Key', format: '{token}' })).to.deep.equal([
      true,
      { 'X-Api-Key': 'token-$1-of-the-test' },
    ]);
    expect(present({ kind: 'header', name: 'Authorization', format: 'Key "{token}", v=1' })).to.deep.equal([
      true,
      { Authorization: 'Key "token-$1-of-the-test", v=1' },
    ]);
  });

  it('is nothing, for none', () => {
    expect(present({ kind: 'none' })).to.deep.equal([false, {}]);
  });
});
