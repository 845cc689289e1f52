import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { loadTls } from '../../kernel/node-http.ts';
import { openFiles, UnusableFile, type WatchedFiles, type WatchOptions } from './watched-files.ts';

/** PEM files (RFC 7468). */
export interface TlsPaths {
  /** Certificate with its intermediate certificates. */
  readonly certFile?: string | undefined;
  /** Key without a passphrase. */
  readonly keyFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly clientCaFile?: string | undefined;
}

/** When a file is of use, in ms since the epoch: while the whole chain is valid, or any authority. */
export interface Validity {
  readonly file: 'certFile' | 'caFile' | 'clientCaFile';
  readonly from: number;
  readonly to: number;
}

export interface TlsIdentity {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly ca?: Buffer | undefined;
}

export interface DatedIdentity extends TlsIdentity {
  readonly validity: readonly Validity[];
}

export type TlsFiles = WatchedFiles<TlsIdentity>;

interface TlsFilesOptions extends WatchOptions {
  /** Whether an expired certificate is refused at the start, too. @default false, its server judges it */
  readonly mustBeValid?: boolean | undefined;
}

/** Larger than all authorities of a browser together. */
const MAX_BYTES = 1_048_576;

const BEGIN = '-----BEGIN CERTIFICATE-----';

/** Opens TLS files. A certificate that is not valid now replaces no other. Throws `UnusableFile`. */
export function openTlsFiles(paths: TlsPaths, options: TlsFilesOptions): WatchedFiles<DatedIdentity> {
  const { certFile, keyFile, caFile, clientCaFile } = paths;
  // Read with each renewal.
  let { mustBeValid = false } = options;
  const opened = openFiles({
    ...options,
    paths: { certFile, keyFile, caFile, clientCaFile },
    maxBytes: MAX_BYTES,
    make: (contents) => identityIn(contents, mustBeValid ? options.now() : undefined),
  });
  mustBeValid = true;
  return opened;
}

function identityIn(
  contents: Readonly<Partial<Record<keyof TlsPaths, Buffer>>>,
  validAt: number | undefined,
): DatedIdentity {
  const { certFile: cert, keyFile: key, caFile, clientCaFile } = contents;
  const ca = caFile ?? clientCaFile;
  const caKey = caFile === undefined ? 'clientCaFile' : 'caFile';
  const chain = cert && certificatesIn(cert, 'certFile');
  const authorities = ca && certificatesIn(ca, caKey);
  const [leaf] = chain ?? [];
  if (key !== undefined && leaf !== undefined) checkKey(key, leaf);
  try {
    loadTls().createSecureContext({ cert, key, ca });
  } catch (error) {
    // For example, a key that is too short for OpenSSL.
    throw new UnusableFile(cert ? 'certFile' : caKey, `cannot be used (${(error as NodeJS.ErrnoException).code})`);
  }
  const untimely = leaf && validAt !== undefined && validityIssue(validityOf('certFile', [leaf]), validAt);
  if (untimely) throw new UnusableFile('certFile', untimely);
  const validity = [chain && validityOf('certFile', chain), authorities && validityOf(caKey, authorities)];
  return { cert, key, ca, validity: validity.filter((one) => one !== undefined) };
}

function validityOf(file: Validity['file'], certificates: readonly X509Certificate[]): Validity {
  const from = certificates.map(({ validFromDate }) => validFromDate.getTime());
  const to = certificates.map(({ validToDate }) => validToDate.getTime());
  return file === 'certFile'
    ? { file, from: Math.max(...from), to: Math.min(...to) }
    : { file, from: Math.min(...from), to: Math.max(...to) };
}

/** Returns why certificates are not valid at a time; `undefined` where they are. */
export function validityIssue({ from, to }: Validity, at: number): string | undefined {
  if (at >= to) return `expired at ${new Date(to).toISOString()}`;
  return at < from ? `is not valid before ${new Date(from).toISOString()}` : undefined;
}

/** OpenSSL would silently stop at the first certificate that it cannot read. */
function certificatesIn(pem: Buffer, key: keyof TlsPaths): readonly X509Certificate[] {
  const [, ...parts] = pem.toString('latin1').split(BEGIN);
  if (parts.length === 0) throw new UnusableFile(key, 'contains no PEM certificate');
  try {
    return parts.map((part) => new X509Certificate(BEGIN + part));
  } catch {
    throw new UnusableFile(key, 'contains an unreadable certificate');
  }
}

/** Throws `UnusableFile` for the private key of another certificate. */
function checkKey(pem: Buffer, certificate: X509Certificate): void {
  if (!certificate.checkPrivateKey(privateKeyIn(pem))) throw new UnusableFile('keyFile', 'does not match certFile');
}

/** Returns the key in a file without a passphrase. Throws `UnusableFile`. */
export function privateKeyIn(pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new UnusableFile('keyFile', 'contains no unencrypted PEM private key');
  }
}
