import type { ConfigIssue } from './config/config-error.ts';
import type { Config } from './config/schema/settings.ts';
import {
  type DatedIdentity,
  openTlsFiles,
  type TlsPaths,
  type Validity,
  validityIssue,
} from './credentials/files/tls-files.ts';
import type { WatchedFiles } from './credentials/files/watched-files.ts';
import { upstreamsInUse } from './secret-files.ts';

export type CertificateFile = Validity & { readonly block: readonly string[] };

/**
 * Returns a function that lists the certificates in force, from the files: an upstream without traffic checks none. `now`:
 * milliseconds since the epoch.
 */
export function watchCertificates(now: () => number) {
  let open = new Map<string, WatchedFiles<DatedIdentity>>();

  return async (config: Config): Promise<CertificateFile[]> => {
    const upstreams = Object.fromEntries(upstreamsInUse(config));
    const files = tlsBlocks({ ...config, upstreams, resources: {} }).flatMap(([block, paths]) => {
      const key = JSON.stringify([block, paths]);
      const mustBeValid = LISTENERS.includes(block[0]);
      try {
        const opened = open.get(key) ?? openTlsFiles(paths, { now, onChange: () => {}, mustBeValid });
        return [{ key, block, opened }];
      } catch {
        // Reported where it is used.
        return [];
      }
    });
    open = new Map(files.map(({ key, opened }) => [key, opened]));
    await Promise.all(files.map(({ opened }) => opened.check()));
    return files.flatMap(({ block, opened }) => opened.held.validity.map((validity) => ({ block, ...validity })));
  };
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

/** Returns warnings of certificates in use that are not valid, or not for long. */
export async function certificateWarnings(config: Config, now: () => number): Promise<ConfigIssue[]> {
  const time = now();
  const found = await watchCertificates(now)(config);
  return found.flatMap((certificate) => {
    const { block, file, to } = certificate;
    const soon = to - time < SOON_MS ? `expires in less than 14 days, at ${new Date(to).toISOString()}` : undefined;
    const message = validityIssue(certificate, time) ?? soon;
    return message === undefined ? [] : { path: [...block, file], message };
  });
}
