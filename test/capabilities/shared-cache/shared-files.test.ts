import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { openSharedFiles } from '../../../src/capabilities/shared-cache/shared-cache.ts';
import { sharedSettings } from '../../../src/capabilities/shared-cache/shared-settings.ts';
import { newFolder } from '../../support/process/process.ts';

const LONG = 'x'.repeat(32);

async function opened(contents: Readonly<Record<string, string>>, settings: object = {}) {
  const folder = await newFolder();
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text);
  const paths = Object.fromEntries(Object.keys(contents).map((name) => [name, join(folder, name)]));
  const parsed = sharedSettings.parse({ url: 'rediss://a', keySecretFile: 'missing', ...paths, ...settings });
  return openSharedFiles(parsed, { events: {}, now: Date.now });
}

const issuesOf = (...args: Parameters<typeof opened>): Promise<string[]> =>
  opened(...args).then(
    () => [],
    (error: Error) => error.message.split('\n'),
  );

describe('the files of the shared cache', () => {
  it('contain the secret of the deployment, which is not printed', async () => {
    const { secret } = await opened({ keySecretFile: `${LONG}\n` });
    expect(secret.reveal()).to.equal(LONG);
    expect(inspect(secret)).to.not.contain('xxxx');
  });

  it('are refused together, each with its setting and the reason', async () => {
    for (const keySecretFile of ['short', 'x'.repeat(31)]) {
      expect(await issuesOf({ keySecretFile })).to.deep.equal([
        'shared.keySecretFile: must contain at least 32 characters',
      ]);
    }
    const contents = { passwordFile: '' };
    expect(await issuesOf(contents, { tls: { caFile: '/missing/ca' } })).to.deep.equal([
      'shared.keySecretFile: cannot be read: no such file or directory',
      'shared.passwordFile: is empty',
      'shared.tls.caFile: cannot be read: no such file or directory',
    ]);
  });
});
