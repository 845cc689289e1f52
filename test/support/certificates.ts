import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  type Extension,
  type GeneralNameType,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** Shorter than OpenSSL takes. */
const WEAK = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 512,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const DAY_MS = 86_400_000;
const ADDRESS = /^[\d.]+$|:/;

export interface Issued {
  readonly cert: string;
  readonly key: string;
}

interface IssueOptions {
  /** Host names and addresses that it is for. @default localhost and 127.0.0.1 */
  readonly names?: readonly string[];
  readonly commonName?: string;
  /** When it begins and ends, in days from now. @default from yesterday, and long enough to be warned of nowhere */
  readonly days?: readonly [from: number, to: number];
  /** Whether its key is too short. @default false */
  readonly isWeak?: boolean;
}

/** Who signs certificates of a test. */
export interface Authority {
  readonly ca: string;
  issue(options?: IssueOptions): Promise<Issued>;
}

/** A new authority, trusted only where it is configured. */
export async function createAuthority(name = 'Authority of a test'): Promise<Authority> {
  const keys = await createKeys(ALGORITHM);
  const issuer = `CN=${name}`;
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: issuer,
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity([-30, 30]),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    ca: `${authority.toString('pem')}\n`,
    async issue({
      names = ['localhost', '127.0.0.1'],
      commonName = 'leaf',
      days = [-1, 20],
      isWeak = false,
    }: IssueOptions = {}) {
      const own = await createKeys(isWeak ? WEAK : ALGORITHM);
      const certificate = await X509CertificateGenerator.create({
        subject: `CN=${commonName}`,
        issuer,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        ...validity(days),
        extensions: [alternativeNames(names)],
      });
      return { cert: `${certificate.toString('pem')}\n`, key: await pemOf(own.privateKey) };
    },
  };
}

function createKeys(algorithm: typeof ALGORITHM | typeof WEAK): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function validity([from, to]: readonly [number, number]) {
  return { notBefore: new Date(Date.now() + from * DAY_MS), notAfter: new Date(Date.now() + to * DAY_MS) };
}

function alternativeNames(names: readonly string[]): Extension {
  return new SubjectAlternativeNameExtension(
    names.map((value) => ({ type: (ADDRESS.test(value) ? 'ip' : 'dns') satisfies GeneralNameType, value })),
  );
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${bytes.replace(/.{1,64}/g, '$&\n')}-----END PRIVATE KEY-----\n`;
}

export function writePem<Name extends string>(folder: string, files: Record<Name, string>): Record<Name, string> {
  const paths = Object.entries<string>(files).map(([name, text]) => {
    const path = join(folder, `${name}.pem`);
    writeFileSync(path, text);
    return [name, path];
  });
  return Object.fromEntries(paths);
}

/**
 * The same as Kubernetes mounts a Secret: `cert.pem` → `..data/cert.pem`, where `..data` is a link to a folder of this
 * revision that is renamed over the link before.
 */
export function mountPem<Name extends string>(
  folder: string,
  revision: string,
  files: Record<Name, string>,
): Record<Name, string> {
  const data = join(folder, `..${revision}`);
  mkdirSync(data);
  writePem(data, files);
  symlinkSync(`..${revision}`, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  const paths = Object.keys(files).map((name) => {
    const path = join(folder, `${name}.pem`);
    rmSync(path, { force: true });
    symlinkSync(join('..data', `${name}.pem`), path);
    return [name, path];
  });
  return Object.fromEntries(paths);
}
