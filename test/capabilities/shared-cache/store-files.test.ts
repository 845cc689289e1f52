import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import {
  openStoreFiles,
  type StoreFiles,
  type StoreSettings,
} from '../../../src/capabilities/shared-cache/store-files.ts';
import { inFolder } from '../../support/process/process.ts';

const LONG = 'x'.repeat(32);

/** Opens such files, with these contents. */
function opened(contents: Readonly<Record<string, string>>, settings: Partial<StoreSettings> = {}) {
  return inFolder(async (folder) => {
    for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text);
    const paths = Object.fromEntries(Object.keys(contents).map((name) => [name, join(folder, name)]));
    return openStoreFiles({ keySecretFile: 'missing', ...paths, ...settings }, { now: Date.now, onChange: () => {} });
  });
}

async function usable(...args: Parameters<typeof opened>): Promise<StoreFiles> {
  const files = await opened(...args);
  if ('issue' in files) throw new Error(files.issue);
  return files;
}

describe('the files of a store that replicas share', () => {
  it('hold the secret of the deployment, and the one before it', async () => {
    const { secrets } = await usable({ keySecretFile: `${LONG}\n`, previousKeySecretFile: `${LONG}2` });
    expect(secrets.map((secret) => secret.reveal())).to.deep.equal([LONG, `${LONG}2`]);
    expect((await usable({ keySecretFile: LONG })).secrets).to.have.length(1);
    expect(inspect(secrets)).to.not.contain('xxxx');
  });

  it('cannot be used where a secret is away, or could be tried out', async () => {
    for (const keySecretFile of ['short', 'x'.repeat(31)]) {
      expect(await opened({ keySecretFile })).to.deep.equal({
        issue: 'must hold 32 characters at least',
        key: 'keySecretFile',
      });
    }
    expect(await opened({})).to.deep.equal({ issue: 'cannot be read (ENOENT)', key: 'keySecretFile' });
    expect(await opened({ keySecretFile: LONG, previousKeySecretFile: 'short' })).to.have.property(
      'key',
      'previousKeySecretFile',
    );
    expect(await opened({ keySecretFile: LONG, passwordFile: '' })).to.deep.equal({
      issue: 'is empty',
      key: 'passwordFile',
    });
  });

  it('say by what the store knows Portico', async () => {
    expect(await (await usable({ keySecretFile: LONG })).user()).to.deep.equal({});
    expect(await (await usable({ keySecretFile: LONG, passwordFile: 'secret' })).user()).to.deep.equal({
      password: 'secret',
    });
    const files = await usable({ keySecretFile: LONG, passwordFile: 'secret' }, { username: 'portico' });
    expect(await files.user()).to.deep.equal({ username: 'portico', password: 'secret' });
  });

  it('are looked at again for the password', async () => {
    await inFolder(async (folder) => {
      const [keySecretFile, passwordFile] = [join(folder, 'key'), join(folder, 'password')];
      writeFileSync(keySecretFile, LONG);
      writeFileSync(passwordFile, 'before');
      let time = Date.now();
      const files = openStoreFiles({ keySecretFile, passwordFile }, { now: () => time, onChange: () => {} });
      if ('issue' in files) throw new Error(files.issue);
      writeFileSync(passwordFile, 'after!');
      expect((await files.user()).password).to.equal('before');
      time += 5000;
      expect((await files.user()).password).to.equal('after!');
    });
  });
});
