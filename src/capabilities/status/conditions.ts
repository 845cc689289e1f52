import type { Events } from '../../core/kernel/events.ts';
import { createHistory, type Period } from './history.ts';
import { amber, type Finding, red } from './status-verdict.ts';

/** How often something happens in ten minutes before it is a trouble. */
const MANY_BOUNDS = 10;
const MANY_LOSSES = 3;
/** Requests over a rate limit in a minute. */
const MANY_LIMITED = 60;
const MANY_DISPLACED = 10;

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
    credentialVerified({ verdict }) {
      if (verdict === 'undecided') undecided.add(0, true);
    },
    sharedStoreChanged({ isUp, why }) {
      const lost = amber('PorticoSharedStoreLost', 'Redis', 'unreachable', { why: ` (${why})` });
      if (hold(!isUp, lost)) losses.add(0, true);
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

  function* counted(): Generator<readonly [Period, most: number, Finding]> {
    const ten = 'in ten minutes';
    const minute = 'in the last minute';
    const all = stored.total().requests;
    const crowded = `of ${all} stored lists evicted for others ${ten}`;
    yield [displaced.total(), Math.max(MANY_DISPLACED, all / 2), amber('PorticoSnapshotsCrowded', 'cache', crowded)];
    yield [bugs.total(), 0, red('PorticoInternalError', 'Portico', `requests failed by a bug ${ten}`)];
    yield [undecided.lastMinute(), 0, red('PorticoCannotVerify', 'tokens', `could not be verified ${minute}`)];
    const refused = `commands refused ${minute}: its memory is full`;
    yield [full.lastMinute(), 0, amber('PorticoSharedStoreFull', 'Redis', refused)];
    const lost = `losses of the connection ${ten}`;
    yield [losses.total(), MANY_LOSSES, amber('PorticoSharedStoreFlapping', 'Redis', lost)];
    yield [limited.lastMinute(), MANY_LIMITED, amber('PorticoRateLimited', 'rate limits', `rejected ${minute}`)];
    for (const [bound, times] of bounds) {
      yield [times.total(), MANY_BOUNDS, amber('PorticoBoundReached', bound, `times reached ${ten}`)];
    }
  }

  return {
    events,
    findings(): Finding[] {
      const many = [...counted()].filter(([{ requests }, most]) => requests > most);
      return [...held.values(), ...many.map(([{ requests }, , one]) => ({ ...one, what: `${requests} ${one.what}` }))];
    },
  };
}
