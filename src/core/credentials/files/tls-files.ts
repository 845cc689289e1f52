import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { openFiles, type Unusable, type WatchedFiles, type WatchOptions } from './watched-files.ts';

/** PEM files (RFC 7468) of one side of TLS. */
export interface TlsPaths {
  /** A certificate with its intermediate certificates. */
  readonly certFile?: string | undefined;
  /** The private key of that certificate, not encrypted. */
  readonly keyFile?: string | undefined;
  /** Authorities that are trusted for upstreams. */
  readonly caFile?: string | undefined;
  /** Authorities that are trusted for clients. */
  readonly clientCaFile?: string | undefined;
}

/** The content of such files, as options of `node:tls`. */
export interface TlsIdentity {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly ca?: Buffer | undefined;
}

export type TlsFiles = WatchedFiles<TlsIdentity>;

/** Larger than all authorities of a browser together. */
const MAX_BYTES = 1_048_576;

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** Matches a key with a passphrase (RFC 5958, and the older form of OpenSSL). */
const ENCRYPTED = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Opens the TLS files that settings name; returns the issue of one that cannot be used. */
export function openTlsFiles(paths: TlsPaths, options: WatchOptions): TlsFiles | Unusable {
  const { certFile, keyFile, caFile, clientCaFile } = paths;
  return openFiles({
    ...options,
    paths: { certFile, keyFile, caFile, clientCaFile },
    maxBytes: MAX_BYTES,
    make: identityIn,
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
    // For example, a key that is too short for OpenSSL.
    return { issue: `cannot be used (${(error as NodeJS.ErrnoException).code})`, key: cert ? 'certFile' : caKey };
  }
  return { cert, key, ca };
}

/** Parses all certificates. OpenSSL would silently stop at the first one that it cannot read. */
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
