import type { ConfigIssue } from './config/config-error.ts';
import type { Config } from './config/schema/settings.ts';
import { openTlsFiles, type TlsPaths, type Validity, validityIssue } from './credentials/files/tls-files.ts';
import { upstreamsInUse } from './secret-files.ts';

export type CertificateFile = Validity & { readonly block: readonly string[] };

/** Returns the certificates that settings name, as their files are now. Files that cannot be used are left out: they have an event. */
export function certificatesIn(config: Config): CertificateFile[] {
  const upstreams = Object.fromEntries(upstreamsInUse(config));
  return tlsBlocks({ ...config, upstreams, resources: {} }).flatMap(([block, paths]) => {
    try {
      const { validity } = openTlsFiles(paths, { now: Date.now, onChange: () => {} }).held;
      return validity.map((one) => ({ block, ...one }));
    } catch {
      return [];
    }
  });
}

const LISTENERS: readonly (string | undefined)[] = ['http', 'admin'];

function tlsBlocks(blocks: object, above: readonly string[] = []): (readonly [block: string[], paths: TlsPaths])[] {
  return Object.entries(blocks).flatMap(([key, inner]) => {
    const block = [...above, key];
    if (Object(inner) !== inner || inner.enabled === false) return [];
    return key === 'tls' && ('certFile' in inner || 'caFile' in inner) ? [[block, inner]] : tlsBlocks(inner, block);
  });
}

/** Time before the end of a certificate from which it is warned of. */
const SOON_MS = 14 * 86_400_000;

/** Returns warnings of certificates that are not valid, or not for long. Listeners do not open with one that is not valid. */
export function certificateWarnings(config: Config, now: () => number): ConfigIssue[] {
  const time = now();
  return certificatesIn(config).flatMap((certificate) => {
    const { block, file, to } = certificate;
    const soon = to - time < SOON_MS ? `expires in less than 14 days, at ${new Date(to).toISOString()}` : undefined;
    const invalid = validityIssue(certificate, time);
    const message = invalid === undefined ? soon : LISTENERS.includes(block[0]) ? undefined : invalid;
    return message === undefined ? [] : { path: [...block, file], message };
  });
}
