import type { Events } from '../../core/kernel/events.ts';
import { describeFinding } from '../../core/mapping/mapper.ts';

/** A recent change, in a few words. */
export interface Change {
  /** When it last happened. ISO 8601. */
  readonly at: string;
  /** When it first happened. ISO 8601. */
  readonly since: string;
  /** Name of an event. */
  readonly event: string;
  /** Whether an operator should look at it. */
  readonly isTrouble: boolean;
  readonly text: string;
  /** How many times it happened: in a row, or, if requests cause it, since it entered the list. Of Redis: all its changes. */
  readonly times: number;
}

interface Note extends Pick<Change, 'isTrouble' | 'text'> {
  readonly event: keyof Events;
  /** What changed: of the same subject, another change to the same state is the same change. */
  readonly about?: string | undefined;
}

type Entry = Change & Note & { readonly isFlapping: boolean };

/** Changes that are kept. */
export const MAX_CHANGES = 50;

/** Events that callers and platforms can cause again and again. */
const REPEATED: ReadonlySet<keyof Events> = new Set([
  ...(['limitReached', 'mappingWarning', 'unsolicitedResponse', 'sharedCommandEnded'] as const),
]);

/** Time in which a second loss of Redis makes one entry of all its changes. */
const FLAPPING_MS = 600_000;

/** Lists the last changes, the newest first. `time` returns now, in ISO 8601. */
export function recentChanges(time: () => string) {
  let notes: Entry[] = [];

  /** Returns the entries that become one with this change. A repeated change displaces no other. */
  function findSame({ event, text, isTrouble, about }: Note, at: string): readonly Entry[] {
    if (REPEATED.has(event)) return notes.filter((one) => one.event === event && one.text === text);
    if (about === undefined) return notes.slice(0, 1).filter((one) => one.event === event && one.text === text);
    const subject = notes.filter((one) => one.event === event && one.about === about);
    if (event === 'sharedStoreChanged') {
      const recent = subject.filter((one) => Date.parse(at) - Date.parse(one.at) < FLAPPING_MS);
      if (recent[0]?.isFlapping || (isTrouble && recent.some((one) => one.isTrouble))) return recent;
    }
    return subject.slice(0, 1).filter((one) => one.isTrouble === isTrouble);
  }

  function add(note: Note): void {
    const at = time();
    const same = findSame(note, at);
    const since = same.at(-1)?.since ?? at;
    const times = same.reduce((sum, one) => sum + one.times, 1);
    const entry = {
      ...note,
      at,
      since,
      times,
      isFlapping: same.some((one) => one.isFlapping || one.isTrouble !== note.isTrouble),
    };
    notes = [entry, ...notes.filter((one) => !same.includes(one))].slice(0, MAX_CHANGES);
  }

  const good = (event: keyof Events, text: string, about?: string) => add({ event, text, isTrouble: false, about });
  const bad = (event: keyof Events, text: string, about?: string) => add({ event, text, isTrouble: true, about });

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
      if (issue === undefined) good('secretChanged', `${block}: the secret was reloaded from its file`);
      else bad('secretChanged', `${block}: the file of its secret ${issue}`);
    },
    tlsFilesChanged({ block, key, issue }) {
      if (issue === undefined) good('tlsFilesChanged', `${block}: certificates were reloaded from their files`);
      else bad('tlsFilesChanged', `${block}: ${key} ${issue}`);
    },
    issuerKeysFetched({ keys, error }) {
      if (error === undefined) good('issuerKeysFetched', `${keys} keys of the issuer were fetched`, 'issuer');
      else bad('issuerKeysFetched', `keys of the issuer: ${error.reason}`, 'issuer');
    },
    sharedStoreChanged({ isUp, why }) {
      if (isUp) good('sharedStoreChanged', 'Redis connected', 'Redis');
      else bad('sharedStoreChanged', `Redis unavailable: ${why}`, 'Redis');
    },
    sharedCommandEnded({ reason }) {
      if (reason === 'full') bad('sharedCommandEnded', 'Redis refuses commands: full');
    },
    sharedEvictionsReceived({ names }) {
      if (names === undefined) bad('sharedEvictionsReceived', 'evictions of other replicas may have been missed');
    },
    unsolicitedResponse: ({ upstream }) => bad('unsolicitedResponse', `${upstream}: sent unsolicited bytes`),
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
    changes: (): Change[] => notes.map(({ about: _about, isFlapping: _isFlapping, ...change }) => change),
  };
}
