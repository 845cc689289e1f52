import type { CertificateFile } from '../../core/certificates.ts';
import { dottedPath } from '../../core/config/config-error.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

/** Returns the certificates that are in use. */
export type Certificates = () => Promise<readonly CertificateFile[]>;

/** Verification and exchange of tokens, files of secrets and certificates, and TLS handshakes. */
export function credentialMetrics({ counter, gauge, histogram }: Families, certificatesInUse: Certificates) {
  const verifications = histogram(
    'portico_credential_verification_duration_seconds',
    'Verifications of tokens. Remembered verdicts are not counted.',
    ['by', 'verdict'],
  );
  const keys = counter('portico_issuer_keys_fetches_total', "Fetches of the token issuer's keys.", ['outcome']);
  const exchanges = histogram(
    'portico_token_exchange_duration_seconds',
    'Exchanges of a token for one of an upstream. Kept tokens are not counted.',
    ['upstream', 'error_type'],
  );
  const secrets = counter(
    'portico_secret_files_total',
    'Times that a secret was reloaded from its file, or its file became unusable, by block of settings.',
    ['block', 'outcome'],
  );
  const certificates = counter(
    'portico_tls_files_total',
    'Times that certificates and keys were reloaded, or a file became unusable, by block of settings.',
    ['block', 'outcome'],
  );
  const unusable = gauge(
    'portico_file_unusable',
    'Whether a file of a block of settings is unusable now, so that its previous content stays in use.',
    ['block'],
  );
  const expiry = gauge(
    'portico_certificate_expiry_timestamp_seconds',
    'End of the certificates in use, since the epoch: the first of a chain, the last of authorities.',
    ['block', 'file'],
    'min',
  );
  let expiring: readonly { readonly block: string; readonly file: string }[] = [];
  const handshakes = counter('portico_tls_handshakes_failed_total', 'TLS handshakes with clients that failed.');
  /** Blocks whose files are observed. */
  const blocks = new Set<string>();
  const observe = (files: typeof secrets, block: string) => {
    blocks.add(block);
    for (const outcome of ['taken', 'unusable']) files({ block, outcome }, 0);
    unusable({ block }, 0);
  };
  const changed = (files: typeof secrets, block: string, issue: string | undefined) => {
    files({ block, outcome: issue === undefined ? 'taken' : 'unusable' });
    unusable({ block }, issue === undefined ? 0 : 1);
  };
  for (const block of ['http.tls', 'admin.tls']) observe(certificates, block);
  observe(secrets, 'verification.introspection');
  for (const outcome of ['fetched', 'failed']) keys({ outcome }, 0);

  const events: Events = {
    upstreamOpened({ upstream }) {
      observe(certificates, `upstreams.${upstream}.tls`);
      observe(secrets, `upstreams.${upstream}.credential`);
    },
    credentialVerified: ({ by, verdict, ms }) => verifications({ by, verdict }, ms),
    issuerKeysFetched: ({ error }) => keys({ outcome: error === undefined ? 'fetched' : 'failed' }),
    tokenExchanged: ({ upstream, ms, error }) => exchanges({ upstream, error_type: error }, ms),
    secretChanged: ({ upstream, block = `upstreams.${upstream}.credential`, issue }) => changed(secrets, block, issue),
    tlsFilesChanged: ({ block, issue }) => changed(certificates, block, issue),
    settingsChanged({ applied }) {
      // The block names other files now, which were usable when they were opened.
      const isIn = (path: string, block: string) => path === block || path.startsWith(`${block}.`);
      for (const block of blocks) {
        if (applied.some((path) => isIn(block, path) || isIn(path, block))) unusable({ block }, 0);
      }
    },
    handshakeFailed: () => handshakes(),
  };
  return {
    events,
    async collect() {
      const found = await certificatesInUse();
      for (const labels of expiring) expiry(labels, undefined);
      expiring = found.map(({ block, file, to }) => {
        const labels = { block: dottedPath(block), file };
        expiry(labels, to / 1000);
        return labels;
      });
    },
  };
}
