import { overlap } from '../../core/config/settings-changes.ts';
import type { Events } from '../../core/kernel/events.ts';
import { describeFinding } from '../../core/mapping/mapper.ts';
import { createCounts } from './request-status.ts';
import { amber, type Finding, red } from './status-verdict.ts';

export interface Change {
  readonly at: string;
  /** When it first happened. ISO 8601. */
  readonly since: string;
  readonly isTrouble: boolean;
  readonly text: string;
  /** How many times it happened since it entered the list. */
  readonly times: number;
}

const MAX_CHANGES = 50;

const ISSUER = 'issuer';

/** How often something happens in ten minutes before it is a trouble. */
const MANY_BOUNDS = 10;
const MANY_CONNECTIONS = 4;
const MANY_LIMITED = 60;
const MANY_DISPLACED = 10;

/**
 * Keeps what events report: troubles that last until another event ends them, troubles that are counted, and the last changes.
 * `time` returns now, in ISO 8601.
 */
export function createEventReports(now: () => number, time: () => string) {
  const lasting = new Map<string, Finding>();
  const counts = createCounts(now);
  /** By the name of the bound: closed lists. */
  const bounds = createCounts(now);
  let changes: Change[] = [];

  /** Lists a change first. A repeated one displaces no other. */
  function list(isTrouble: boolean, text: string): void {
    const at = time();
    const { since, times } = changes.find((one) => one.text === text) ?? { since: at, times: 0 };
    const others = changes.filter((one) => one.text !== text);
    changes = [{ at, since, isTrouble, text, times: times + 1 }, ...others].slice(0, MAX_CHANGES);
  }

  /** Begins a trouble, or ends it where there is no `why`. `over`: the change that ends it. @default not listed */
  function hold(alert: string, subject: string, what: string, why = '', over?: string): void {
    const key = `${alert} ${subject}`;
    if (why === '') {
      lasting.delete(key);
      if (over !== undefined) list(false, `${subject}: ${over}`);
      return;
    }
    const since = lasting.get(key)?.since ?? time();
    lasting.set(key, amber(alert, subject, what, { since, why: ` (${why})` }));
    list(true, `${subject}: ${what} (${why})`);
  }

  const events: Events = {
    settingsRefused: ({ issue }) => hold('PorticoSettingsRefused', 'settings', 'refused', issue),
    settingsReloaded({ needRestart }) {
      hold('PorticoSettingsRefused', 'settings', 'refused');
      hold('PorticoSettingsRefused', 'restart', 'pending', needRestart.join(', '));
    },
    settingsChanged({ applied }) {
      // What settings name now was usable when it was opened, and an issuer is another one.
      for (const [key, { subject }] of lasting) {
        const block = subject === ISSUER ? 'verification' : subject;
        if (applied.some((path) => overlap(path, block))) lasting.delete(key);
      }
      if (applied.length > 0) list(false, `settings: changed (${applied.join(', ')})`);
    },
    filesChanged: ({ block, key, issue }) =>
      hold('PorticoFileUnusable', block, 'file unusable', issue && `${key} ${issue}`, 'files reloaded'),
    issuerKeysFetched: ({ keys, error }) =>
      hold(
        'PorticoCannotVerify',
        ISSUER,
        'keys cannot be fetched',
        error?.reason ?? error?.code,
        `${keys} keys fetched`,
      ),
    sharedStoreChanged({ isUp, why }) {
      hold('PorticoSharedStoreLost', 'Redis', 'unreachable', isUp ? '' : (why ?? 'disconnected'), 'connected');
      if (isUp) counts.add('connected');
    },
    sharedCommandEnded({ outcome }) {
      counts.add(outcome);
      if (outcome === 'full') list(true, 'Redis: commands refused, because its memory is full');
    },
    credentialVerified: ({ verdict }) => counts.add(verdict),
    snapshotStored: () => counts.add('stored'),
    snapshotDisplaced: () => counts.add('displaced'),
    limitReached({ bound, upstream }) {
      if (bound.startsWith('limits.')) counts.add('limited');
      else bounds.add(bound);
      list(true, `${upstream === undefined ? '' : `${upstream}: `}${bound} is reached`);
    },
    internalError() {
      counts.add('bugs');
      list(true, 'Portico: a bug, whose stack is in the log');
    },
    mappingWarning: (warning) => list(true, `${warning.resource}: ${describeFinding(warning)}`),
    breakerChanged({ upstream, state }) {
      // A half-open breaker lets one call try, and then opens or closes.
      if (state !== 'half-open') list(state === 'open', `${upstream}: breaker ${state}`);
    },
    connectionsRefused: () => list(true, 'connections refused: http.maxConnections are open'),
    listenerFailed: () => list(true, 'a listener failed'),
    listening: () => list(false, 'listening'),
    draining: () => list(false, 'draining'),
  };

  /** Returns what was counted, from which number on it is a trouble, and the trouble. */
  function counted(): readonly (readonly [count: number, most: number, Finding])[] {
    const { stored = 0, displaced = 0, bugs = 0, connected = 0 } = counts.total();
    const { undecided = 0, full = 0, limited = 0 } = counts.lastMinute();
    const ten = 'in ten minutes';
    const minute = 'in the last minute';
    const crowded = `of ${stored} stored lists evicted for others ${ten}`;
    const refused = `commands refused ${minute}: its memory is full`;
    return [
      [displaced, Math.max(MANY_DISPLACED, stored / 2), amber('PorticoSnapshotsCrowded', 'cache', crowded)],
      [bugs, 0, red('PorticoInternalError', 'Portico', `requests failed by a bug ${ten}`)],
      [undecided, 0, red('PorticoCannotVerify', 'tokens', `could not be verified ${minute}`)],
      [full, 0, amber('PorticoSharedStoreLost', 'Redis', refused)],
      [connected, MANY_CONNECTIONS, amber('PorticoSharedStoreLost', 'Redis', `times connected ${ten}`)],
      [limited, MANY_LIMITED, amber('PorticoBoundReached', 'rate limits', `rejected ${minute}`)],
      ...Object.entries(bounds.total()).map(
        ([bound, times = 0]) =>
          [times, MANY_BOUNDS, amber('PorticoBoundReached', bound, `times reached ${ten}`)] as const,
      ),
    ];
  }

  return {
    events,
    changes: () => changes,
    findings(): Finding[] {
      const many = counted().filter(([count, most]) => count > most);
      return [...lasting.values(), ...many.map(([count, , one]) => ({ ...one, what: `${count} ${one.what}` }))];
    },
  };
}
