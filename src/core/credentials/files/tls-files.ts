import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { openFiles, type Unusable, type WatchedFiles, type WatchOptions } from './watched-files.ts';

/** Files of PEM (RFC 7468) by which one side of TLS shows who it is, and knows whom to believe. */
export interface TlsPaths {
  /** A certificate, and those between it and its authority. */
  readonly certFile?: string | undefined;
  /** The private key of that certificate, not encrypted. */
  readonly keyFile?: string | undefined;
  /** Certificates of the authorities that upstreams are believed by. */
  readonly caFile?: string | undefined;
  /** Certificates of the authorities that clients are believed by. */
  readonly clientCaFile?: string | undefined;
}

/** What such files hold, as `node:tls` takes it. */
export interface TlsIdentity {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly ca?: Buffer | undefined;
}

export type TlsFiles = WatchedFiles<TlsIdentity>;

/** More than all authorities of a browser together. */
const MAX_BYTES = 1_048_576;

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** What stands in a key that needs a passphrase (RFC 5958, and the older form of OpenSSL). */
const ENCRYPTED = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Opens the files of TLS that settings name, and says which of them cannot be used, and why. */
export function openTlsFiles(paths: TlsPaths, options: WatchOptions): TlsFiles | Unusable {
  const { certFile, keyFile, caFile, clientCaFile } = paths;
  return openFiles({
    ...options,
    paths: { certFile, keyFile, caFile, clientCaFile },
    maxBytes: MAX_BYTES,
    make: identityIn,
    isSame: (one, other) => digestOf(one) === digestOf(other),
  });
}

function identityIn(contents: Readonly<Partial<Record<keyof TlsPaths, Buffer>>>): TlsIdentity | Unusable {
  const { certFile: cert, keyFile: key, caFile, clientCaFile } = contents;
  const ca = caFile ?? clientCaFile;
  const caKey = caFile === undefined ? 'clientCaFile' : 'caFile';
  const chain = cert && certificatesIn(cert, 'certFile');
  if (chain !== undefined && 'issue' in chain) return chain;
  const authorities = ca && certificatesIn(ca, caKey);
  if (authorities !== undefined && 'issue' in authorities) return authorities;
  const issue = keyIssue(key, chain?.[0]);
  if (issue !== undefined) return { issue, key: 'keyFile' };
  try {
    createSecureContext({ cert, key, ca });
  } catch (error) {
    // Such as a key that is shorter than OpenSSL takes.
    return { issue: `cannot be used (${(error as NodeJS.ErrnoException).code})`, key: cert ? 'certFile' : caKey };
  }
  return { cert, key, ca };
}

/** All of them: what OpenSSL takes ends without a word at the first that it cannot read. */
function certificatesIn(pem: Buffer, key: keyof TlsPaths): readonly X509Certificate[] | Unusable {
  const [, ...parts] = pem.toString('latin1').split(BEGIN);
  if (parts.length === 0) return { issue: 'holds no certificate in PEM', key };
  const certificates: X509Certificate[] = [];
  for (const part of parts) {
    const end = part.indexOf(END);
    if (end === -1) return { issue: 'holds a certificate that is not whole', key };
    try {
      certificates.push(new X509Certificate(BEGIN + part.slice(0, end) + END));
    } catch {
      return { issue: 'holds a certificate that cannot be read', key };
    }
  }
  return certificates;
}

function keyIssue(key: Buffer | undefined, certificate: X509Certificate | undefined): string | undefined {
  if (key === undefined || certificate === undefined) return undefined;
  try {
    return certificate.checkPrivateKey(createPrivateKey(key)) ? undefined : 'is not the key of certFile';
  } catch {
    return ENCRYPTED.test(key.toString('latin1'))
      ? 'is encrypted: Portico takes a key without a passphrase'
      : 'holds no private key in PEM';
  }
}

function digestOf({ cert, key, ca }: TlsIdentity): string {
  const digest = createHash('sha256');
  for (const bytes of [cert, key, ca]) digest.update(`${bytes?.length} `).update(bytes ?? '');
  return digest.digest('base64');
}
