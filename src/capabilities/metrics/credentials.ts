import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

/** What callers' tokens are found to be, and what Portico itself shows to others. */
export function credentialMetrics(families: Families): Events {
  const verifications = families.histogram({
    name: 'portico_credential_verification_duration_seconds',
    help: 'Verifications of tokens, but for those whose verdict was remembered.',
    labels: ['by', 'verdict'],
  });
  const keys = families.counter({
    name: 'portico_issuer_keys_fetches_total',
    help: 'Times that the keys of the issuer of tokens were fetched, or could not be.',
    labels: ['outcome'],
  });
  const exchanges = families.histogram({
    name: 'portico_token_exchange_duration_seconds',
    help: 'Exchanges of a token for one that is made for an upstream, but for those whose result was kept.',
    labels: ['upstream', 'error_type'],
  });
  const secrets = families.counter({
    name: 'portico_secret_files_total',
    help: 'Times that a secret was taken from its file anew, or its file became unusable, by block of settings.',
    labels: ['block', 'outcome'],
  });
  const certificates = families.counter({
    name: 'portico_tls_files_total',
    help: 'Times that certificates and keys were taken from their files anew, or one became unusable, by block of settings.',
    labels: ['block', 'outcome'],
  });
  const unusable = families.gauge({
    name: 'portico_file_unusable',
    help: 'Whether a file of a block of settings cannot be used as it is now, so that what was taken from it before goes on.',
    labels: ['block'],
  });
  const handshakes = families.counter({
    name: 'portico_tls_handshakes_failed_total',
    help: 'Clients that opened a connection, and did not come through the handshake of TLS.',
  });
  // So that the first failure is seen as one.
  const begin = (files: typeof secrets, block: string) => {
    for (const outcome of ['taken', 'unusable']) files.at(block, outcome);
    unusable.at(block).value = 0;
  };
  function changed(files: typeof secrets, block: string, issue: string | undefined): void {
    files.at(block, issue === undefined ? 'taken' : 'unusable').value += 1;
    unusable.at(block).value = issue === undefined ? 0 : 1;
  }
  for (const block of ['http.tls', 'admin.tls']) begin(certificates, block);
  begin(secrets, 'verification.introspection');
  for (const outcome of ['fetched', 'failed']) keys.at(outcome);
  handshakes.at();

  return {
    upstreamOpened({ upstream }) {
      begin(certificates, `upstreams.${upstream}.tls`);
      begin(secrets, credentialOf(upstream));
    },
    credentialJudged({ by, verdict, ms }) {
      verifications.at(by, verdict).observe(ms / 1000);
    },
    issuerKeysFetched({ error }) {
      keys.at(error === undefined ? 'fetched' : 'failed').value += 1;
    },
    tokenExchanged({ upstream, ms, error }) {
      exchanges.at(upstream, error).observe(ms / 1000);
    },
    secretChanged({ upstream = '', block = credentialOf(upstream), issue }) {
      changed(secrets, block, issue);
    },
    tlsFilesChanged({ block, issue }) {
      changed(certificates, block, issue);
    },
    settingsChanged({ applied }) {
      // Other files, which could be used as they were opened.
      for (const { values, held } of unusable.series) {
        if (applied.some((path) => isWithin(String(values[0]), path) || isWithin(path, String(values[0]))))
          held.value = 0;
      }
    },
    handshakeFailed() {
      handshakes.at().value += 1;
    },
  };
}

function isWithin(path: string, block: string): boolean {
  return path === block || path.startsWith(`${block}.`);
}

/** The block of settings that an upstream's secret belongs to. */
function credentialOf(upstream: string): string {
  return `upstreams.${upstream}.credential`;
}
