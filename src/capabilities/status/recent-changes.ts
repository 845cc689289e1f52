import type { Events } from '../../core/kernel/events.ts';
import { describeFinding } from '../../core/mapping/mapper.ts';

export interface Change {
  readonly at: string;
  /** When it first happened. ISO 8601. */
  readonly since: string;
  readonly event: string;
  readonly isTrouble: boolean;
  readonly text: string;
  /** How many times it happened since it entered the list. Of Redis: all its changes. */
  readonly times: number;
}

interface Entry extends Change {
  /** What changed: of the same subject, another change to the same state is the same change. */
  readonly about: string;
}

const MAX_CHANGES = 50;

const FLAPPING_MS = 600_000;

const REDIS = 'Redis';

/** Lists the last changes, the newest first. `time` returns now, in ISO 8601. */
export function recentChanges(time: () => string) {
  let entries: Entry[] = [];

  /** A repeated change displaces no other. */
  function add(isTrouble: boolean, event: keyof Events, text: string, about = text): void {
    const at = time();
    const last = entries.find((one) => one.event === event && one.about === about);
    const isFlapping = about === REDIS && last !== undefined && Date.parse(at) - Date.parse(last.at) < FLAPPING_MS;
    const same = last?.isTrouble === isTrouble || isFlapping ? last : undefined;
    const { since, times } = same ?? { since: at, times: 0 };
    const entry = { at, since, event, isTrouble, text, times: times + 1, about };
    entries = [entry, ...entries.filter((one) => one !== same)].slice(0, MAX_CHANGES);
  }

  const good = (event: keyof Events, text: string, about?: string) => add(false, event, text, about);
  const bad = (event: keyof Events, text: string, about?: string) => add(true, event, text, about);

  const events: Events = {
    mappingWarning: (warning) =>
      bad('mappingWarning', `${warning.resource}: ${describeFinding(warning)} (${warning.finding})`),
    breakerChanged({ upstream, state, failures, calls }) {
      // A half-open breaker lets one call try, and then opens or closes.
      if (state === 'half-open') return;
      const text = `${upstream}: breaker ${state} (${failures} of ${calls} calls failed)`;
      (state === 'open' ? bad : good)('breakerChanged', text, upstream);
    },
    settingsChanged({ applied, needRestart }) {
      const changed = applied.length > 0 ? `settings changed: ${applied.join(', ')}` : 'settings unchanged';
      if (needRestart.length === 0) good('settingsChanged', changed);
      else bad('settingsChanged', `${changed}; need a restart: ${needRestart.join(', ')}`);
    },
    settingsRefused: ({ issue }) => bad('settingsRefused', `settings refused: ${issue}`),
    secretChanged({ upstream, block = upstream, issue }) {
      if (issue === undefined) good('secretChanged', `${block}: the secret was reloaded from its file`, block);
      else bad('secretChanged', `${block}: the file of its secret ${issue}`, block);
    },
    tlsFilesChanged({ block, key, issue }) {
      if (issue === undefined) good('tlsFilesChanged', `${block}: certificates were reloaded from their files`, block);
      else bad('tlsFilesChanged', `${block}: ${key} ${issue}`, block);
    },
    issuerKeysFetched({ keys, error }) {
      if (error === undefined) good('issuerKeysFetched', `${keys} keys of the issuer were fetched`, 'issuer');
      else bad('issuerKeysFetched', `keys of the issuer: ${error.reason}`, 'issuer');
    },
    sharedStoreChanged({ isUp, why }) {
      if (isUp) good('sharedStoreChanged', 'Redis connected', REDIS);
      else bad('sharedStoreChanged', `Redis unavailable: ${why}`, REDIS);
    },
    sharedCommandEnded({ outcome }) {
      if (outcome === 'full') bad('sharedCommandEnded', 'Redis refuses commands: full');
    },
    limitReached: ({ bound, upstream }) =>
      bad('limitReached', `${upstream === undefined ? '' : `${upstream}: `}${bound} is reached`),
    connectionsRefused: () =>
      bad('connectionsRefused', 'connections were refused: http.maxConnections are open', 'connections'),
    listenerFailed: () => bad('listenerFailed', 'a listener failed', 'listener'),
    internalError: ({ requestId }) => bad('internalError', `a bug: the log has its stack under ${requestId}`, 'bug'),
    listening: () => good('listening', 'listening'),
    draining: () => good('draining', 'draining'),
  };

  return {
    events,
    changes: (): Change[] => entries.map(({ about: _about, ...change }) => change),
  };
}
