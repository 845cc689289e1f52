import type { CertificateFile } from '../../core/certificates.ts';
import { dottedPath } from '../../core/config/config-error.ts';
import { overlap } from '../../core/config/settings-changes.ts';
import type { Events } from '../../core/kernel/events.ts';
import { readVersion } from '../../core/kernel/version.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** Verification of tokens, and files of secrets and certificates. `certificates`: those in use. */
export function credentialMetrics(
  { gauge, histogram }: MetricRegistry,
  certificates: () => readonly CertificateFile[],
): Events {
  const verifications = histogram(
    'portico_credential_verification_duration_seconds{verdict}',
    'Verifications of tokens. Remembered verdicts are not counted.',
  );
  const unusable = gauge(
    'portico_file_unusable{block}',
    'Whether a file of a block of settings is unusable now, so that its previous content stays in use.',
  );
  gauge(
    'portico_certificate_expiry_timestamp_seconds{block,file}',
    'End of the certificates in the files, since the epoch: the first of a chain, the last of authorities.',
    (expiry) => {
      expiry.reset();
      for (const { block, file, to } of certificates()) expiry.set({ block: dottedPath(block), file }, to / 1000);
    },
  );
  const blocks = new Set<string>();
  const changed = (block: string, issue?: string) => {
    blocks.add(block);
    unusable.set({ block }, issue === undefined ? 0 : 1);
  };
  for (const block of ['http.tls', 'admin.tls', 'verification.introspection']) changed(block);

  return {
    upstreamOpened({ upstream }) {
      for (const block of ['tls', 'credential']) changed(`upstreams.${upstream}.${block}`);
    },
    credentialVerified: ({ verdict, ms }) => verifications.observe({ verdict }, ms / 1000),
    filesChanged: ({ block, issue }) => changed(block, issue),
    settingsChanged({ applied }) {
      // The block names other files now, which were usable when they were opened.
      for (const block of blocks) if (applied.some((path) => overlap(path, block))) unusable.set({ block }, 0);
    },
  };
}

export function settingsMetrics({ counter, gauge }: MetricRegistry, settingsHash: () => string): Events {
  const changes = counter('portico_settings_changes_total', 'Times that changed settings took effect.');
  const successful = gauge(
    'portico_settings_last_reload_successful',
    'Whether the last reload of the settings succeeded: 1, or 0 where they were refused.',
  );
  const pending = gauge('portico_settings_restart_pending', 'Whether changed settings need a restart to take effect.');
  gauge(
    'portico_settings_info{hash}',
    'Always 1; the label is a hash of the settings in force, without secrets.',
    (info) => {
      info.reset();
      info.set({ hash: settingsHash() }, 1);
    },
  );
  successful.set(1);
  return {
    settingsReloaded({ needRestart }) {
      successful.set(1);
      pending.set(needRestart.length > 0 ? 1 : 0);
    },
    settingsRefused: () => successful.set(0),
    settingsChanged({ applied }) {
      if (applied.length > 0) changes.inc();
    },
  };
}

/** What runs, and dropped lines, if they are known. */
export function processMetrics(
  { counter, gauge }: MetricRegistry,
  droppedLogLines: () => number | undefined = () => undefined,
): void {
  gauge('portico_build_info{version}', 'Always 1; the label is the version that runs.').set(
    { version: readVersion() },
    1,
  );
  counter(
    'portico_log_lines_dropped_total',
    'Log lines that were dropped because their reader was too slow or gone.',
    (dropped) => {
      const lines = droppedLogLines();
      dropped.remove();
      if (lines !== undefined) dropped.inc(lines);
    },
  );
}
