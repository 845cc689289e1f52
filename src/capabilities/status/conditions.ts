import type { Events } from '../../core/kernel/events.ts';
import { createCounts } from './request-status.ts';
import { amber, type Finding, red } from './status-verdict.ts';

/** How often something happens in ten minutes before it is a trouble. */
const MANY_BOUNDS = 10;
const MANY_LOSSES = 3;
const MANY_LIMITED = 60;
const MANY_DISPLACED = 10;

/** Keeps troubles that events report, and no figure shows: until another event ends them, or counted. */
export function createConditions(now: () => number, time: () => string) {
  const held = new Map<string, Finding>();
  const counts = createCounts(now);
  /** By the name of the bound: closed lists. */
  const bounds = createCounts(now);

  /** Adds a trouble, or removes it. Returns whether it is new. */
  function hold(isTrue: boolean, finding: Finding): boolean {
    const key = `${finding.alert} ${finding.subject}`;
    const before = held.get(key);
    if (isTrue) held.set(key, { ...finding, since: before?.since ?? time() });
    else held.delete(key);
    return isTrue && before === undefined;
  }

  const file = (subject: string, what: string, issue: string | undefined) =>
    hold(issue !== undefined, amber('PorticoFileUnusable', subject, what, { why: ` (${issue})` }));
  const settings = (subject: string, what: string, why: string) =>
    hold(why !== '', amber('PorticoSettingsRefused', subject, what, { why: `: ${why}` }));

  const events: Events = {
    settingsRefused: ({ issue }) => settings('settings', 'refused', issue),
    settingsReloaded({ needRestart }) {
      settings('settings', 'refused', '');
      settings('restart', 'pending', needRestart.join(', '));
    },
    secretChanged: ({ upstream = '', block = upstream, issue }) => file(block, 'secret file unusable', issue),
    tlsFilesChanged: ({ block, key, issue }) => file(block, `${key} unusable`, issue),
    issuerKeysFetched({ error }) {
      const why = ` (${error?.reason ?? error?.code})`;
      hold(error !== undefined, amber('PorticoCannotVerify', 'issuer', 'keys cannot be fetched', { why }));
    },
    credentialVerified: ({ verdict }) => counts.add(verdict),
    sharedStoreChanged({ isUp, why }) {
      const lost = amber('PorticoSharedStoreLost', 'Redis', 'unreachable', { why: ` (${why})` });
      if (hold(!isUp, lost)) counts.add('lost');
    },
    sharedCommandEnded: ({ outcome }) => counts.add(outcome),
    limitReached: ({ bound }) => (bound.startsWith('limits.') ? counts.add('limited') : bounds.add(bound)),
    snapshotStored: () => counts.add('stored'),
    snapshotDisplaced: () => counts.add('displaced'),
    internalError: () => counts.add('bugs'),
  };

  /** Returns what was counted, from which number on it is a trouble, and the trouble. */
  function counted(): readonly (readonly [count: number, most: number, Finding])[] {
    const { stored = 0, displaced = 0, bugs = 0, lost = 0 } = counts.total();
    const { undecided = 0, full = 0, limited = 0 } = counts.lastMinute();
    const ten = 'in ten minutes';
    const minute = 'in the last minute';
    const crowded = `of ${stored} stored lists evicted for others ${ten}`;
    const refused = `commands refused ${minute}: its memory is full`;
    const flapping = `losses of the connection ${ten}`;
    return [
      [displaced, Math.max(MANY_DISPLACED, stored / 2), amber('PorticoSnapshotsCrowded', 'cache', crowded)],
      [bugs, 0, red('PorticoInternalError', 'Portico', `requests failed by a bug ${ten}`)],
      [undecided, 0, red('PorticoCannotVerify', 'tokens', `could not be verified ${minute}`)],
      [full, 0, amber('PorticoSharedStoreLost', 'Redis', refused)],
      [lost, MANY_LOSSES, amber('PorticoSharedStoreLost', 'Redis', flapping)],
      [limited, MANY_LIMITED, amber('PorticoBoundReached', 'rate limits', `rejected ${minute}`)],
      ...Object.entries(bounds.total()).map(
        ([bound, times = 0]) =>
          [times, MANY_BOUNDS, amber('PorticoBoundReached', bound, `times reached ${ten}`)] as const,
      ),
    ];
  }

  return {
    events,
    findings(): Finding[] {
      const many = counted().filter(([count, most]) => count > most);
      return [...held.values(), ...many.map(([count, , one]) => ({ ...one, what: `${count} ${one.what}` }))];
    },
  };
}
