import type { Events } from '../../core/kernel/events.ts';
import { createHistory } from './history.ts';
import type { Finding } from './status-verdict.ts';

/** How often something happens in ten minutes before it is a trouble. */
const MANY_BOUNDS = 10;
const MANY_LOSSES = 3;
/** Requests over a rate limit in a minute. */
const MANY_LIMITED = 60;
const MANY_DISPLACED = 10;
/** Share of the stored lists that are evicted to make room. */
const MAX_DISPLACED = 0.5;

/**
 * Keeps troubles that events report, and no figure shows: those that last until another event ends them, and those that are
 * counted. `time` returns now, in ISO 8601.
 */
export function createConditions(now: () => number, time: () => string) {
  const held = new Map<string, Finding>();
  const counts = () => createHistory(now);
  const [bugs, undecided, full, losses, limited] = [counts(), counts(), counts(), counts(), counts()];
  const [stored, displaced] = [counts(), counts()];
  /** By the name of the bound: closed lists. */
  const bounds = new Map<string, ReturnType<typeof counts>>();

  function hold(isTrue: boolean, finding: Finding): void {
    const key = keyOf(finding);
    if (isTrue) held.set(key, { ...finding, since: held.get(key)?.since ?? time() });
    else held.delete(key);
  }

  function keyOf({ alert, subject }: Pick<Finding, 'alert' | 'subject'>): string {
    return `${alert} ${subject}`;
  }

  function file(subject: string, what: string, issue: string | undefined): void {
    const about = { alert: 'PorticoFileUnusable', level: 'amber', subject, what } as const;
    hold(issue !== undefined, { ...about, why: ` (${issue})` });
  }

  function settings(subject: string, what: string, why: string): void {
    hold(why !== '', { alert: 'PorticoSettingsRefused', level: 'amber', subject, what, why: `: ${why}` });
  }

  const events: Events = {
    settingsRefused: ({ issue }) => settings('settings', 'refused', issue),
    settingsReloaded({ needRestart }) {
      settings('settings', 'refused', '');
      settings('restart', 'pending', needRestart.join(', '));
    },
    secretChanged: ({ upstream = '', block = upstream, issue }) => file(block, 'secret file unusable', issue),
    tlsFilesChanged: ({ block, key, issue }) => file(block, `${key} unusable`, issue),
    issuerKeysFetched({ error }) {
      const what = 'keys cannot be fetched';
      const why = ` (${error?.reason ?? error?.code})`;
      hold(error !== undefined, { alert: 'PorticoCannotVerify', level: 'amber', subject: 'issuer', what, why });
    },
    credentialVerified({ verdict }) {
      if (verdict === 'undecided') undecided.add(0, true);
    },
    sharedStoreChanged({ isUp, why }) {
      const about = { alert: 'PorticoSharedStoreLost', level: 'amber', subject: 'Redis' } as const;
      if (!isUp && !held.has(keyOf(about))) losses.add(0, true);
      hold(!isUp, { ...about, what: 'unreachable', why: ` (${why})` });
    },
    sharedCommandEnded({ reason }) {
      if (reason === 'full') full.add(0, true);
    },
    limitReached({ bound }) {
      if (bound.startsWith('limits.')) return limited.add(0, true);
      const history = bounds.get(bound) ?? counts();
      bounds.set(bound, history);
      history.add(0, true);
    },
    snapshotStored: () => stored.add(0, false),
    snapshotDisplaced: () => displaced.add(0, true),
    internalError: () => bugs.add(0, true),
  };

  /** Findings of what was counted more often than `most`. */
  function many(count: number, most: number, finding: Omit<Finding, 'what'>, what: string): Finding[] {
    return count > most ? [{ ...finding, what: `${count} ${what}` }] : [];
  }

  function crowded(): Finding[] {
    const all = stored.total().requests;
    const most = Math.max(MANY_DISPLACED, MAX_DISPLACED * all);
    return many(displaced.total().requests, most, CROWDED, `of ${all} stored lists evicted for others in ten minutes`);
  }

  return {
    events,
    findings: (): Finding[] => [
      ...crowded(),
      ...held.values(),
      ...many(bugs.total().requests, 0, INTERNAL, 'requests failed by a bug in ten minutes'),
      ...many(undecided.lastMinute().requests, 0, UNDECIDED, 'could not be verified in the last minute'),
      ...many(full.lastMinute().requests, 0, FULL, 'commands refused in the last minute: its memory is full'),
      ...many(losses.total().requests, MANY_LOSSES, FLAPPING, 'losses of the connection in ten minutes'),
      ...many(limited.lastMinute().requests, MANY_LIMITED, LIMITED, 'rejected in the last minute'),
      ...[...bounds].flatMap(([subject, history]) =>
        many(history.total().requests, MANY_BOUNDS, { ...BOUND, subject }, 'times reached in ten minutes'),
      ),
    ],
  };
}

const INTERNAL = { alert: 'PorticoInternalError', level: 'red', subject: 'Portico' } as const;
const UNDECIDED = { alert: 'PorticoCannotVerify', level: 'red', subject: 'tokens' } as const;
const FULL = { alert: 'PorticoSharedStoreFull', level: 'amber', subject: 'Redis' } as const;
const FLAPPING = { alert: 'PorticoSharedStoreFlapping', level: 'amber', subject: 'Redis' } as const;
const LIMITED = { alert: 'PorticoRateLimited', level: 'amber', subject: 'rate limits' } as const;
const CROWDED = { alert: 'PorticoSnapshotsCrowded', level: 'amber', subject: 'cache' } as const;
const BOUND = { alert: 'PorticoBoundReached', level: 'amber' } as const;
