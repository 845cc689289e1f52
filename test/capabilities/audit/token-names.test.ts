import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTokenNames, openTokenNames } from '../../../src/capabilities/audit/token-names.ts';
import type { ConfigError } from '../../../src/core/config/config-error.ts';
import { createAuthenticate } from '../../../src/core/credentials/authenticate.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { callerWith, TOKEN } from '../../support/authorization/caller.ts';
import { inFolder } from '../../support/process/process.ts';

const KEY = 'k'.repeat(32);
const named = (key: string, token = TOKEN) => createTokenNames(new Credential(key))(callerWith(token));

describe('the name of a token in the audit', () => {
  it('is its HMAC under the audit key', () => {
    expect(named(KEY)).to.equal(createHmac('sha256', KEY).update(TOKEN).digest('base64url'));
  });

  it('is the same on every replica, whose callers have other keys', async () => {
    const names = await Promise.all(
      [0, 1].map(async () => {
        const identity = await createAuthenticate()([new Credential(`Bearer ${TOKEN}`)]);
        return { key: identity.key, name: createTokenNames(new Credential(KEY))(identity) };
      }),
    );
    expect(names[0]?.name).to.equal(names[1]?.name);
    expect(names[0]?.key).not.to.equal(names[1]?.key);
  });

  it('is another one for another token, and under another key', () => {
    expect(new Set([named(KEY), named(KEY, 'other'), named(KEY.replace('k', 'K'))]).size).to.equal(3);
  });

  it('is made once for a caller that comes again', () => {
    const nameToken = createTokenNames(new Credential(KEY));
    const caller = callerWith();
    let revealed = 0;
    const credential = Object.create(caller.credential, {
      reveal: {
        value() {
          revealed += 1;
          return TOKEN;
        },
      },
    });
    const first = nameToken({ ...caller, credential });
    expect(nameToken({ ...caller, credential })).to.equal(first);
    expect(revealed).to.equal(1);
  });

  it('needs a key of 32 characters in a file of one line', async () => {
    await inFolder(async (folder) => {
      const open = async (text: string | undefined) => {
        const file = join(folder, 'key');
        if (text !== undefined) await writeFile(file, text);
        try {
          return openTokenNames(text === undefined ? join(folder, 'away') : file);
        } catch (error) {
          return (error as ConfigError).message;
        }
      };
      expect(await open(`${KEY}\n`)).to.be.a('function');
      expect(await open(KEY.slice(1))).to.equal('audit.keyFile: must hold 32 characters at least');
      expect(await open('')).to.equal('audit.keyFile: is empty');
      expect(await open(undefined)).to.equal('audit.keyFile: cannot be read (ENOENT)');
    });
  });
});
