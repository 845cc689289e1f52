import type { Events } from '../../core/kernel/events.ts';
import type { RecentChanges } from './recent-changes.ts';

const WARNINGS = {
  nothing_left: () => 'nothing is left of a reply that was not empty',
  duplicate_ids: () => 'an id occurs more than once',
  field_empty: (field = '') => `${field} is empty in every item`,
};

/** Notes what changes, in a few words of ours. */
export function changeEvents({ note }: Pick<RecentChanges, 'note'>): Events {
  const good = (event: keyof Events, text: string, about?: string) => tell(event, text, false, about);
  const bad = (event: keyof Events, text: string, about?: string) => tell(event, text, true, about);
  function tell(event: keyof Events, text: string, isTrouble: boolean, about: string | undefined): void {
    note({ event, text, isTrouble, ...(about !== undefined && { about }) });
  }

  return {
    mappingDoubted({ resource, finding, field }) {
      bad('mappingDoubted', `${resource}: ${WARNINGS[finding](field)} (${finding})`);
    },
    breakerChanged({ upstream, state, failures, calls }) {
      // One call that tries is no news: it opens again, or it closes.
      if (state === 'half-open') return;
      const text = `${upstream}: breaker ${state} (${failures} of ${calls} calls failed)`;
      (state === 'open' ? bad : good)('breakerChanged', text, upstream);
    },
    settingsChanged({ applied, needRestart }) {
      const taken = applied.length > 0 ? `settings changed: ${applied.join(', ')}` : 'settings unchanged';
      if (needRestart.length === 0) good('settingsChanged', taken);
      else bad('settingsChanged', `${taken}; need a restart: ${needRestart.join(', ')}`);
    },
    secretChanged({ upstream, block = upstream, issue }) {
      if (issue === undefined) good('secretChanged', `${block}: another secret was taken from its file`);
      else bad('secretChanged', `${block}: the file of its secret ${issue}`);
    },
    tlsFilesChanged({ block, key, issue }) {
      if (issue === undefined) good('tlsFilesChanged', `${block}: other certificates were taken from their files`);
      else bad('tlsFilesChanged', `${block}: ${key} ${issue}`);
    },
    issuerKeysFetched({ keys, error }) {
      if (error === undefined) good('issuerKeysFetched', `${keys} keys of the issuer were fetched`, 'issuer');
      else bad('issuerKeysFetched', `keys of the issuer: ${error.reason ?? error.code}`, 'issuer');
    },
    sharedStoreChanged({ isUp, why }) {
      if (isUp) good('sharedStoreChanged', 'the shared store is there', 'shared store');
      else bad('sharedStoreChanged', `the shared store is away: ${why}`, 'shared store');
    },
    sharedEvictionsHeard({ names }) {
      if (names === undefined) bad('sharedEvictionsHeard', 'evictions of other replicas may have been missed');
    },
    unsolicitedResponse: ({ upstream }) => bad('unsolicitedResponse', `${upstream}: sent unsolicited bytes`),
    boundReached: ({ bound, upstream }) =>
      bad('boundReached', `${upstream === undefined ? '' : `${upstream}: `}${bound} is reached`),
    connectionsRefused: () =>
      bad('connectionsRefused', 'connections were refused: http.maxConnections are open', 'connections'),
    listenerFailed: () => bad('listenerFailed', 'a listener failed', 'listener'),
    internalError: ({ requestId }) => bad('internalError', `a bug: the log has its stack under ${requestId}`, 'bug'),
    listening: () => good('listening', 'listening'),
    draining: () => good('draining', 'draining'),
  };
}
