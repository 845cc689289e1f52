import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

export interface SettingsMetricsOptions {
  /** Returns the hash of the settings in force. */
  readonly settingsHash: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The settings in force, and their last reload. `collect` updates what is read at a scrape. */
export function settingsMetrics({ counter, gauge }: Families, { settingsHash, now }: SettingsMetricsOptions) {
  const changes = counter('portico_settings_changes_total', 'Times that changed settings took effect.');
  const successful = gauge(
    'portico_settings_last_reload_successful',
    'Whether the last reload of the settings succeeded: 1, or 0 where they were refused.',
    [],
    'min',
  );
  const succeededAt = gauge(
    'portico_settings_last_reload_success_timestamp_seconds',
    'Last time that settings were read and not refused, since the epoch.',
    [],
    'min',
  );
  const pending = gauge(
    'portico_settings_restart_pending',
    'Whether changed settings need a restart to take effect.',
    [],
    'max',
  );
  const info = gauge(
    'portico_settings_info',
    'Always 1; the label is a hash of the settings in force, without secrets.',
    ['hash'],
    'max',
  );
  let hash: string | undefined;

  function succeed(needRestart: readonly string[]): void {
    successful({}, 1);
    succeededAt({}, now() / 1000);
    pending({}, needRestart.length > 0 ? 1 : 0);
  }

  succeed([]);
  const events: Events = {
    settingsReloaded: ({ needRestart }) => succeed(needRestart),
    settingsRefused: () => successful({}, 0),
    settingsChanged({ applied }) {
      if (applied.length > 0) changes();
    },
  };
  return {
    events,
    collect() {
      const before = hash;
      hash = settingsHash();
      if (before !== hash) info({ hash: before }, undefined);
      info({ hash }, 1);
    },
  };
}
