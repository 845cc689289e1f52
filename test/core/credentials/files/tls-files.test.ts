import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { openTlsFiles, type TlsPaths } from '../../../../src/core/credentials/files/tls-files.ts';
import { createAuthority, writePem } from '../../../support/certificates.ts';
import { inFolder } from '../../../support/process/process.ts';

const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();
const OTHER = await AUTHORITY.issue();
const WEAK = generateKeyPairSync('rsa', {
  modulusLength: 512,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;
const ENCRYPTED = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hush' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;

const NO_CHANGE = { now: Date.now, onChange: () => {} };
const EXPIRED = await AUTHORITY.issue({ days: [-2, -1] });
const FUTURE = await AUTHORITY.issue({ days: [1, 2] });
const DAY_MS = 86_400_000;
const IN_TIME = /^certFile (expired at|is not valid before) \d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** What is wrong with files of these texts, or `undefined`. */
function issueOf(texts: { readonly [Key in keyof TlsPaths]: string }) {
  return inFolder(async (folder) => {
    const paths = writePem(folder, texts as Record<keyof TlsPaths, string>);
    const opened = openTlsFiles(paths, NO_CHANGE);
    return 'issue' in opened ? `${opened.key} ${opened.issue}` : undefined;
  });
}

describe('the files of TLS', () => {
  it('are a certificate with its key, authorities, or both', async () => {
    for (const texts of [
      { certFile: LEAF.cert, keyFile: LEAF.key },
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
  for (const [what, texts, issue] of [
    ['an empty certificate', { certFile: '', keyFile: LEAF.key }, 'certFile holds no certificate in PEM'],
    ['garbage', { certFile: 'garbage', keyFile: LEAF.key }, 'certFile holds no certificate in PEM'],
    [
      'half a certificate',
      { certFile: cut(LEAF.cert), keyFile: LEAF.key },
      'certFile holds a certificate that cannot be read',
    ],
    [
      'half a chain',
      { certFile: LEAF.cert + cut(AUTHORITY.ca), keyFile: LEAF.key },
      'certFile holds a certificate that cannot be read',
    ],
    [
      'a chain with garbage in it',
      { certFile: LEAF.cert + AUTHORITY.ca.replace(/\n.{9}/, '\n????'), keyFile: LEAF.key },
      'certFile holds a certificate that cannot be read',
    ],
    ['no key', { certFile: LEAF.cert, keyFile: LEAF.cert }, 'keyFile holds no private key in PEM without a passphrase'],
    [
      'half a key',
      { certFile: LEAF.cert, keyFile: cut(LEAF.key) },
      'keyFile holds no private key in PEM without a passphrase',
    ],
    ['another key', { certFile: LEAF.cert, keyFile: OTHER.key }, 'keyFile is not the key of certFile'],
    ['a key of another kind', { certFile: LEAF.cert, keyFile: WEAK }, 'keyFile is not the key of certFile'],
    [
      'a key with a passphrase',
      { certFile: LEAF.cert, keyFile: ENCRYPTED },
      'keyFile holds no private key in PEM without a passphrase',
    ],
    ['no authority', { caFile: LEAF.key }, 'caFile holds no certificate in PEM'],
    [
      'no authority of clients',
      { certFile: LEAF.cert, keyFile: LEAF.key, clientCaFile: '' },
      'clientCaFile holds no certificate in PEM',
    ],
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
    it(`are not used by a listener with a certificate that is ${what}`, () =>
      inFolder(async (folder) => {
        const paths = writePem(folder, { certFile, keyFile });
        const refused = openTlsFiles(paths, { ...NO_CHANGE, mustBeValid: true });
        expect('issue' in refused && `${refused.key} ${refused.issue}`).to.match(IN_TIME);
        // The server judges a client's.
        expect(openTlsFiles(paths, NO_CHANGE)).to.have.property('held');
      }));

    it(`keep a valid certificate when it is replaced by one that is ${what}`, () =>
      inFolder(async (folder) => {
        const clock = { now: Date.now() };
        const issues: unknown[] = [];
        const files = openTlsFiles(writePem(folder, { certFile: LEAF.cert, keyFile: LEAF.key }), {
          now: () => clock.now,
          onChange: (unusable) => issues.push(unusable && `${unusable.key} ${unusable.issue}`),
        });
        if ('issue' in files) throw new Error(files.issue);
        const before = files.held;
        writePem(folder, { certFile, keyFile });
        clock.now += 10_000;
        await files.check();
        expect(files.held).to.equal(before);
        expect(issues).to.have.length(1);
        expect(issues[0]).to.match(IN_TIME);
      }));
  }

  it('are adopted once their certificate is valid', () =>
    inFolder(async (folder) => {
      const clock = { now: Date.now() };
      const files = openTlsFiles(writePem(folder, { certFile: LEAF.cert, keyFile: LEAF.key }), {
        ...NO_CHANGE,
        now: () => clock.now,
      });
      if ('issue' in files) throw new Error(files.issue);
      const before = files.held;
      writePem(folder, { certFile: FUTURE.cert, keyFile: FUTURE.key });
      for (const [days, isAdopted] of [
        [0.5, false],
        [1, true],
      ] as const) {
        clock.now += days * DAY_MS;
        await files.check();
        expect(files.held !== before).to.equal(isAdopted);
      }
    }));

  it('expire with the first certificate of a chain, and the last of the authorities', () =>
    inFolder(async (folder) => {
      const days = async (to: number) => (await AUTHORITY.issue({ days: [-1, to] })).cert;
      const { cert, key } = await AUTHORITY.issue({ days: [-1, 9] });
      const opened = openTlsFiles(
        writePem(folder, {
          ...{ certFile: cert + (await days(7)), keyFile: key },
          clientCaFile: (await days(3)) + (await days(5)),
        }),
        NO_CHANGE,
      );
      const { validity } = 'held' in opened ? opened.held : {};
      expect(validity?.map(({ file, to }) => [file, Math.round((to - Date.now()) / DAY_MS)])).to.deep.equal([
        ['certFile', 7],
        ['clientCaFile', 5],
      ]);
    }));

  it('are there', () => {
    const opened = openTlsFiles({ certFile: join('/no', 'cert'), keyFile: '/no/key' }, NO_CHANGE);
    expect(opened).to.deep.equal({ issue: 'cannot be read (ENOENT)', key: 'certFile' });
  });
});
