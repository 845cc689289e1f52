import { execFileSync } from 'node:child_process';
import { open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import { readSettings } from '../../../src/core/config/yaml-file.ts';
import { inFolder } from '../../support/process/process.ts';

async function issueOf(reading: Promise<string>): Promise<string> {
  const error = await reading.then(
    () => new Error('it was read'),
    (reason: Error) => reason,
  );
  expect(error).to.be.instanceOf(ConfigError);
  return error.message;
}

describe('the text of a settings file', () => {
  it('may come through a pipe, from a late writer and piece by piece', async () => {
    await inFolder(async (folder) => {
      const pipe = join(folder, 'pipe.yaml');
      execFileSync('mkfifo', [pipe]);
      const reading = readSettings(pipe);
      const writer = await open(pipe, 'w');
      await writer.write('scheme: ');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await writer.write('acme\n');
      await writer.close();
      expect(await reading).to.equal('scheme: acme\n');
    });
  });

  it('is neither a folder nor larger than 256 KiB, and no more of it is read', async () => {
    await inFolder(async (folder) => {
      expect(await issueOf(readSettings(folder))).to.contain('it is a folder');
      const large = join(folder, 'large.yaml');
      await writeFile(large, '');
      await truncate(large, 100 * 2 ** 20);
      expect(await issueOf(readSettings(large))).to.contain('is larger than 256 KiB');
      expect(await issueOf(readSettings('/dev/zero'))).to.contain('is larger than 256 KiB');
    });
  });

  it('may be empty', async () => {
    await inFolder(async (folder) => {
      await writeFile(join(folder, 'empty.yaml'), '');
      expect(await readSettings(join(folder, 'empty.yaml'))).to.equal('');
    });
  });
});
