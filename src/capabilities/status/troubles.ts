import { overlap } from '../../core/config/settings-changes.ts';
import type { Events } from '../../core/kernel/events.ts';
import { describeFinding } from '../../core/mapping/mapper.ts';

export interface Trouble {
  /** `red`: callers get no lists, or soon will not. */
  readonly level: 'red' | 'amber';
  /** An upstream, a resource, or a part of Portico. */
  readonly subject: string;
  readonly text: string;
  /** Section of the runbook, as in the alert rules. The admin listener serves it under this path. */
  readonly runbook: string;
  /** ISO 8601; `null` for what is counted over a time. */
  readonly since: string | null;
}

/** `alert`: its name, which is that of a section of the runbook. */
export function troubleOf(
  level: Trouble['level'],
  alert: string,
  subject: string,
  what: string,
  since: string | null = null,
): Trouble {
  return { level, subject, text: `${subject}: ${what}`, runbook: `docs/runbook.md#${alert.toLowerCase()}`, since };
}

export interface Change {
  readonly at: string;
  readonly isTrouble: boolean;
  readonly text: string;
  /** Why it happened last. */
  readonly why: string;
  /** How many times it happened since it entered the list. */
  readonly times: number;
}

const MAX_CHANGES = 50;

const ISSUER = 'issuer';

export type Troubles = ReturnType<typeof createTroubles>;

/** Keeps troubles that last until another event ends them, and the last changes. `time` returns now, in ISO 8601. */
export function createTroubles(time: () => string) {
  const lasting = new Map<string, Trouble>();
  let changes: Change[] = [];

  /** Lists a change first. A repeated one displaces no other. */
  function list(isTrouble: boolean, text: string, why = ''): void {
    const { times = 0 } = changes.find((one) => one.text === text) ?? {};
    const others = changes.filter((one) => one.text !== text);
    changes = [{ at: time(), isTrouble, text, why, times: times + 1 }, ...others].slice(0, MAX_CHANGES);
  }

  /** Begins a trouble with `why`, or ends it without. `over`: the change that ends it. @default not listed */
  function hold(alert: string, subject: string, what: string, why?: string, over?: string): void {
    const key = `${alert} ${subject}`;
    if (why !== undefined) {
      const level = alert === 'PorticoBreakerOpen' ? 'red' : 'amber';
      lasting.set(key, troubleOf(level, alert, subject, `${what} (${why})`, lasting.get(key)?.since ?? time()));
      list(true, `${subject}: ${what}`, why);
    } else {
      lasting.delete(key);
      if (over !== undefined) list(false, `${subject}: ${over}`);
    }
  }

  const events: Events = {
    settingsRefused: ({ issue }) => hold('PorticoSettingsRefused', 'settings', 'refused', issue),
    settingsReloaded({ needRestart }) {
      hold('PorticoSettingsRefused', 'settings', 'refused');
      hold('PorticoSettingsRefused', 'restart', 'pending', needRestart.join(', ') || undefined);
    },
    settingsChanged({ applied }) {
      // What settings name now was usable when it was opened, and an issuer is another one.
      for (const [key, { subject }] of lasting) {
        const block = subject === ISSUER ? 'verification' : subject;
        if (applied.some((path) => overlap(path, block))) lasting.delete(key);
      }
      if (applied.length > 0) list(false, 'settings: changed', applied.join(', '));
    },
    filesChanged: ({ block, key, issue }) =>
      hold('PorticoFileUnusable', block, 'file unusable', issue && `${key} ${issue}`, 'files reloaded'),
    issuerKeysFetched: ({ error }) =>
      hold('PorticoCannotVerify', ISSUER, 'keys cannot be fetched', error?.reason ?? error?.code, 'keys fetched'),
    sharedStoreChanged: ({ isUp, why = 'disconnected' }) =>
      hold('PorticoSharedStoreLost', 'Redis', 'unreachable', isUp ? undefined : why, 'connected'),
    sharedCommandEnded({ outcome }) {
      if (outcome === 'full') list(true, 'Redis: commands refused, because its memory is full');
    },
    limitReached: ({ bound, upstream }) =>
      list(true, `${upstream === undefined ? '' : `${upstream}: `}${bound} is reached`),
    internalError: () => list(true, 'Portico: a bug, whose stack is in the log'),
    mappingWarning: (warning) => list(true, `${warning.resource}: ${describeFinding(warning)}`),
    connectionsRefused: () => list(true, 'connections refused: http.maxConnections are open'),
    listenerFailed: () => list(true, 'a listener failed'),
    listening: () => list(false, 'listening'),
    draining: () => list(false, 'draining'),
  };

  return { events, hold, changes: () => changes, lasting: () => [...lasting.values()] };
}
