import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { openTlsFiles, type TlsPaths } from '../../../../src/core/credentials/files/tls-files.ts';
import { UnusableFile } from '../../../../src/core/credentials/files/watched-files.ts';
import { createAuthority, writePem } from '../../../support/certificates.ts';
import { newFolder } from '../../../support/process/process.ts';
import { thrownBy } from '../../../support/thrown.ts';

const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();
const LEAF_FILES = { certFile: LEAF.cert, keyFile: LEAF.key };
const OTHER = await AUTHORITY.issue();
const PEM = { type: 'pkcs8', format: 'pem' } as const;
const WEAK = `${generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export(PEM)}`;
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const ENCRYPTED = `${EC.export({ ...PEM, cipher: 'aes-256-cbc', passphrase: 'hush' })}`;

const NO_CHANGE = { now: Date.now, onChange: () => {} };
const EXPIRED = await AUTHORITY.issue({ days: [-2, -1] });
const FUTURE = await AUTHORITY.issue({ days: [1, 2] });
const DAY_MS = 86_400_000;
const IN_TIME = /^certFile (expired at|is not valid before) \d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** What is wrong with files of these texts, or `undefined`. */
async function issueOf(texts: { readonly [Key in keyof TlsPaths]: string }) {
  const folder = await newFolder();
  return refusalOf(writePem(folder, texts as Record<keyof TlsPaths, string>));
}

function refusalOf(paths: TlsPaths, options: { mustBeValid?: boolean } = {}): string | undefined {
  return thrownBy(UnusableFile, () => openTlsFiles(paths, { ...NO_CHANGE, ...options }))?.message;
}

describe('the files of TLS', () => {
  it('are a certificate with its key, authorities, or both', async () => {
    for (const texts of [
      LEAF_FILES,
      { certFile: `${LEAF.cert}\n${AUTHORITY.ca}`, keyFile: `# a comment\n${LEAF.key}` },
      { certFile: LEAF.cert + LEAF.key, keyFile: LEAF.cert + LEAF.key },
      { caFile: AUTHORITY.ca },
      { caFile: `one\n${AUTHORITY.ca}\r\nanother\n${AUTHORITY.ca}` },
      { certFile: LEAF.cert, keyFile: LEAF.key, clientCaFile: AUTHORITY.ca },
    ]) {
      expect(await issueOf(texts)).to.equal(undefined);
    }
  });

  const cut = (pem: string) => pem.slice(0, pem.length / 2);
  const NO_CERTIFICATE = 'contains no PEM certificate';
  const UNREADABLE = 'certFile contains an unreadable certificate';
  const NO_KEY = 'keyFile contains no unencrypted PEM private key';
  const OTHER_KEY = 'keyFile does not match certFile';
  const GARBLED = AUTHORITY.ca.replace(/\n.{9}/, '\n????');
  const [certFile, keyFile] = [LEAF.cert, LEAF.key];
  for (const [what, texts, issue] of [
    ['garbage', { certFile: 'garbage', keyFile }, `certFile ${NO_CERTIFICATE}`],
    ['half a certificate', { certFile: cut(certFile), keyFile }, UNREADABLE],
    ['a chain with garbage in it', { certFile: certFile + GARBLED, keyFile }, UNREADABLE],
    ['no key', { certFile, keyFile: certFile }, NO_KEY],
    ['half a key', { certFile, keyFile: cut(keyFile) }, NO_KEY],
    ['another key', { certFile, keyFile: OTHER.key }, OTHER_KEY],
    ['a key of another kind', { certFile, keyFile: WEAK }, OTHER_KEY],
    ['a key with a passphrase', { certFile, keyFile: ENCRYPTED }, NO_KEY],
    ['no authority', { caFile: keyFile }, `caFile ${NO_CERTIFICATE}`],
    ['too much', { caFile: ' '.repeat(1_048_577) }, 'caFile is larger than 1048576 bytes'],
  ] as const) {
    it(`are not used with ${what}`, async () => {
      expect(await issueOf(texts)).to.equal(issue);
    });
  }

  it('are not used with a key that is too short to be safe', async () => {
    const { cert: certFile, key: keyFile } = await AUTHORITY.issue({ isWeak: true });
    expect(await issueOf({ certFile, keyFile })).to.match(/^certFile cannot be used \(ERR_[A-Z_]+\)$/);
  });

  for (const [what, { cert: certFile, key: keyFile }] of Object.entries({ expired: EXPIRED, future: FUTURE })) {
    it(`are not used by a listener with a certificate that is ${what}`, async () => {
      const folder = await newFolder();
      const paths = writePem(folder, { certFile, keyFile });
      expect(refusalOf(paths, { mustBeValid: true })).to.match(IN_TIME);
      // The server judges a client's.
      expect(refusalOf(paths)).to.equal(undefined);
    });
  }

  it('are adopted once their certificate is valid', async () => {
    const folder = await newFolder();
    const clock = { now: Date.now() };
    const files = openTlsFiles(writePem(folder, LEAF_FILES), {
      ...NO_CHANGE,
      now: () => clock.now,
    });
    const before = files.held;
    writePem(folder, { certFile: FUTURE.cert, keyFile: FUTURE.key });
    clock.now += DAY_MS / 2;
    await files.check();
    expect(files.held).to.equal(before);
    clock.now += DAY_MS;
    await files.check();
    expect(files.held).not.to.equal(before);
  });

  it('are there', () => {
    it('expire with the first certificate of a chain, and the last of the authorities', async () => {
      const folder = await newFolder();
      const days = async (to: number) => (await AUTHORITY.issue({ days: [-1, to] })).cert;
      const { cert, key } = await AUTHORITY.issue({ days: [-1, 9] });
      const clientCaFile = (await days(3)) + (await days(5));
      const paths = writePem(folder, { certFile: cert + (await days(7)), keyFile: key, clientCaFile });
      const { validity } = openTlsFiles(paths, NO_CHANGE).held;
      expect(validity.map(({ file, to }) => [file, Math.round((to - Date.now()) / DAY_MS)])).to.deep.equal([
        ['certFile', 7],
        ['clientCaFile', 5],
      ]);
    });
    const refusal = refusalOf({ certFile: join('/no', 'cert'), keyFile: '/no/key' });
    expect(refusal).to.equal('certFile cannot be read: no such file or directory');
  });
});
