import type { CertificateFile } from '../../core/certificates.ts';
import { dottedPath } from '../../core/config/config-error.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

export type Certificates = () => Promise<readonly CertificateFile[]>;

/** Verification and exchange of tokens, and files of secrets and certificates. */
export function credentialMetrics({ counter, gauge, histogram }: Families, certificatesInUse: Certificates) {
  const verifications = histogram(
    'portico_credential_verification_duration_seconds{by,verdict}',
    'Verifications of tokens. Remembered verdicts are not counted.',
  );
  const keys = counter('portico_issuer_keys_fetches_total{outcome}', "Fetches of the token issuer's keys.");
  const exchanges = histogram(
    'portico_token_exchange_duration_seconds{upstream,error_type}',
    'Exchanges of a token for one of an upstream. Kept tokens are not counted.',
  );
  const unusable = gauge(
    'portico_file_unusable{block}',
    'Whether a file of a block of settings is unusable now, so that its previous content stays in use.',
  );
  const expiry = gauge(
    'portico_certificate_expiry_timestamp_seconds{block,file}',
    'End of the certificates in use, since the epoch: the first of a chain, the last of authorities.',
  );
  let expiring: readonly (readonly string[])[] = [];
  const blocks = new Set<string>();
  const changed = (block: string, issue?: string) => {
    blocks.add(block);
    unusable(issue === undefined ? 0 : 1, block);
  };
  for (const block of ['http.tls', 'admin.tls', 'verification.introspection']) changed(block);
  for (const outcome of ['fetched', 'failed']) keys(0, outcome);

  const events: Events = {
    upstreamOpened({ upstream }) {
      for (const block of ['tls', 'credential']) changed(`upstreams.${upstream}.${block}`);
    },
    credentialVerified: ({ by, verdict, ms }) => verifications(ms, by, verdict),
    issuerKeysFetched: ({ error }) => keys(1, error === undefined ? 'fetched' : 'failed'),
    tokenExchanged: ({ upstream, ms, error }) => exchanges(ms, upstream, error),
    secretChanged: ({ upstream, block = `upstreams.${upstream}.credential`, issue }) => changed(block, issue),
    tlsFilesChanged: ({ block, issue }) => changed(block, issue),
    settingsChanged({ applied }) {
      // The block names other files now, which were usable when they were opened.
      const isIn = (path: string, block: string) => path === block || path.startsWith(`${block}.`);
      for (const block of blocks) {
        if (applied.some((path) => isIn(block, path) || isIn(path, block))) unusable(0, block);
      }
    },
  };
  return {
    events,
    async collect() {
      const found = await certificatesInUse();
      for (const labels of expiring) expiry(undefined, ...labels);
      expiring = found.map(({ block, file, to }) => {
        const labels = [dottedPath(block), file];
        expiry(to / 1000, ...labels);
        return labels;
      });
    },
  };
}
