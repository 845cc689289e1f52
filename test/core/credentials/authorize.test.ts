import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import {
  type AuthorizationSettings,
  openAuthorization,
  ownSecretsIn,
} from '../../../src/core/credentials/authorize.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { newFolder } from '../../support/process/process.ts';

const caller = {
  credential: new Credential('token-$1-of-the-test'),
  credentialKey: 'k',
  cacheScope: 'p',
  requestId: 'r',
};
const openServer = () => expect.fail('no server is asked');
const options = { now: Date.now, onChange: () => {}, upstream: 'tools', events: {}, openServer };

const open = (settings: AuthorizationSettings) => openAuthorization(settings, options);

async function authorization(settings: AuthorizationSettings) {
  const { authorize } = open(settings);
  return await authorize(caller, new AbortController().signal);
}

describe('what an upstream is given', () => {
  it("is the caller's token in a header whose name comes in lower case", async () => {
    const headers = { 'x-api-key': 'token-$1-of-the-test' };
    const settings = { kind: 'header', name: 'X-Api-Key', format: '{token}' } as const;
    expect(await authorization(settings)).to.deep.equal(headers);
  });
});

/** Settings of service, and the one header that comes of them. */
const SERVICE: readonly [string, object, Record<string, string>][] = [
  ['as a bearer token', {}, { authorization: 'Bearer hush-$1' }],
  ['under another name', { name: 'X-Api-Key' }, { 'x-api-key': 'hush-$1' }],
  ['under another name and in another form', { name: 'X-K', format: 'Key {token};' }, { 'x-k': 'Key hush-$1;' }],
  ['in another form', { format: 'Token {token}' }, { authorization: 'Token hush-$1' }],
  // RFC 7617, section 2: base64 of user, colon and password.
  ['as the password of a user', { user: 'portico' }, { authorization: 'Basic cG9ydGljbzpodXNoLSQx' }],
  [
    'beside a second one in a header of its own',
    { name: 'X-Key', second: { secret: 'id-7', name: 'X-Key-Id', format: '{token}' } },
    { 'x-key': 'hush-$1', 'x-key-id': 'id-7' },
  ],
  ['as that under another name', { user: 'portico', name: 'X-K' }, { 'x-k': 'Basic cG9ydGljbzpodXNoLSQx' }],
];

describe("what an upstream is given of Portico's own", () => {
  for (const [how, settings, headers] of SERVICE) {
    it(`is the secret of settings ${how}`, async () => {
      expect(await authorization({ kind: 'service', secret: 'hush-$1', ...settings })).to.deep.equal(headers);
    });

    it(`is the secret of a file ${how}`, async () => {
      const folder = await newFolder();
      const file = join(folder, 'secret');
      writeFileSync(file, 'hush-$1\n');
      expect(await authorization({ kind: 'service', file, ...settings })).to.deep.equal(headers);
    });

    it(`is known again ${how}`, () => {
      const secrets = ownSecretsIn({ accept: 'a', ...headers }, { kind: 'service', ...settings });
      expect(secrets).to.include('hush-$1');
      expect(secrets.some((secret) => Object.values(headers)[0]?.includes(secret))).to.equal(true);
    });
  }

  it('is shown by no inspector and no serializer', async () => {
    const folder = await newFolder();
    const file = join(folder, 'secret');
    writeFileSync(file, 'hush-hush');
    for (const settings of [{ file }, { secret: 'hush-hush' }]) {
      const opened = open({ kind: 'service', ...settings });
      expect(inspect(opened, { depth: 9, showHidden: true })).not.to.contain('hush-hush');
      expect(JSON.stringify(opened)).not.to.contain('hush-hush');
    }
  });

  it("is nothing in what carries the caller's token", () => {
    expect(ownSecretsIn({ authorization: 'Bearer a' }, { kind: 'passthrough' })).to.deep.equal([]);
    expect(ownSecretsIn({ authorization: 'Bearer a' }, undefined)).to.deep.equal([]);
  });
});
