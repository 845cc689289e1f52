import type { Events } from '../events.ts';
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
  const handshakes = families.counter({
    name: 'portico_tls_handshakes_failed_total',
    help: 'Clients that opened a connection, and did not come through the handshake of TLS.',
  });
  // So that the first failure is seen as one.
  const begin = (files: typeof secrets, block: string) => {
    for (const outcome of ['taken', 'unusable']) files.at(block, outcome);
  };
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
      secrets.at(block, outcomeOf(issue)).value += 1;
    },
    tlsFilesChanged({ block, issue }) {
      certificates.at(block, outcomeOf(issue)).value += 1;
    },
    handshakeFailed() {
      handshakes.at().value += 1;
    },
  };
}

function outcomeOf(issue: string | undefined): 'taken' | 'unusable' {
  return issue === undefined ? 'taken' : 'unusable';
}

/** The block of settings that an upstream's secret belongs to. */
function credentialOf(upstream: string): string {
  return `upstreams.${upstream}.credential`;
}
