import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSecretFile } from '../../src/core/credentials/files/secret-file.ts';
import { openFilesOf } from '../../src/core/secret-files.ts';
import { inFolder } from '../support/process/process.ts';

describe('two files of one block of settings', () => {
  it('are reported as unusable until both can be used', () =>
    inFolder(async (folder) => {
      let now = Date.now();
      const reported: (string | undefined)[] = [];
      const context = {
        events: { filesChanged: ({ key }: { readonly key?: string | undefined }) => void reported.push(key) },
        now: () => now,
      };
      const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
      for (const name of ['file', 'second.file']) write(name, 'old');
      const files = openFilesOf(['upstreams', 'tools', 'credential'], context, (options) =>
        ['file', 'second.file'].map((key) => openSecretFile(join(folder, key), options, key)),
      );
      const checkAll = async () => {
        now += 10_000;
        for (const file of files) await file.check();
        return reported.splice(0);
      };
      rmSync(join(folder, 'second.file'));
      write('file', 'new');
      expect((await checkAll()).at(-1)).to.equal('second.file');
      write('file', 'newer');
      expect((await checkAll()).at(-1)).to.equal('second.file');
      write('second.file', 'new');
      expect(await checkAll()).to.deep.equal([undefined]);
    }));
});
