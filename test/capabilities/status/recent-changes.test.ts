import { expect } from 'chai';
import { recentChanges } from '../../../src/capabilities/status/recent-changes.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';

function open() {
  let seconds = 0;
  const { events, changes } = recentChanges(() => new Date(1000 * seconds++).toISOString());
  return { events, list: changes };
}

const breaker = { upstream: 'acme', calls: 4, failures: 4 };

/** Events by the text of the change; `!` marks trouble. */
const TEXTS: Readonly<Record<string, (events: Events) => void>> = {
  '!tools: nothing is left of a reply that was not empty (nothing_left)': (events) =>
    events.mappingWarning?.({ resource: 'tools', upstream: 'acme', finding: 'nothing_left' }),
  '!tools: name is empty in every item (field_empty)': (events) =>
    events.mappingWarning?.({ resource: 'tools', upstream: 'acme', finding: 'field_empty', field: 'name' }),
  '!acme: breaker open (4 of 4 calls failed)': (events) => events.breakerChanged?.({ ...breaker, state: 'open' }),
  'acme: breaker closed (4 of 4 calls failed)': (events) => events.breakerChanged?.({ ...breaker, state: 'closed' }),
  'settings changed: scheme': (events) => events.settingsChanged?.({ applied: ['scheme'], needRestart: [] }),
  '!settings unchanged; need a restart: cache': (events) =>
    events.settingsChanged?.({ applied: [], needRestart: ['cache'] }),
  '!settings refused: resources.tools.path: missing': (events) =>
    events.settingsRefused?.({ issue: 'resources.tools.path: missing' }),
  'acme: the secret was reloaded from its file': (events) => events.secretChanged?.({ upstream: 'acme' }),
  '!verification.introspection: the file of its secret is empty': (events) =>
    events.secretChanged?.({ block: 'verification.introspection', issue: 'is empty' }),
  'http.tls: certificates were reloaded from their files': (events) => events.tlsFilesChanged?.({ block: 'http.tls' }),
  '!http.tls: keyFile is no key': (events) =>
    events.tlsFilesChanged?.({ block: 'http.tls', key: 'keyFile', issue: 'is no key' }),
  '2 keys of the issuer were fetched': (events) => events.issuerKeysFetched?.({ keys: 2 }),
  '!keys of the issuer: no response': (events) =>
    events.issuerKeysFetched?.({ keys: 2, error: new GatewayError('internal', { reason: 'no response' }) }),
  'Redis connected': (events) => events.sharedStoreChanged?.({ isUp: true }),
  '!Redis unavailable: timeout': (events) => events.sharedStoreChanged?.({ isUp: false, why: 'timeout' }),
  '!acme: maxQueue is reached': (events) => events.limitReached?.({ bound: 'maxQueue', upstream: 'acme' }),
  '!maxWaiting is reached': (events) => events.limitReached?.({ bound: 'maxWaiting' }),
  '!connections were refused: http.maxConnections are open': (events) =>
    events.connectionsRefused?.({ maxConnections: 1 }),
  '!a listener failed': (events) => events.listenerFailed?.({ error: new Error('E') }),
  '!a bug: the log has its stack under r-1': (events) => events.internalError?.({ requestId: 'r-1', stack: 'S' }),
  listening: (events) => events.listening?.({ url: 'u', resources: [] }),
  draining: (events) => events.draining?.({}),
};

describe('a recent change', () => {
  for (const [text, emit] of Object.entries(TEXTS)) {
    it(`reads: ${text}`, () => {
      const { events, list } = open();
      emit(events);
      expect(list().map((change) => (change.isTrouble ? `!${change.text}` : change.text))).to.deep.equal([text]);
    });
  }

  it('is not added for a half-open breaker', () => {
    const { events, list } = open();
    events.breakerChanged?.({ ...breaker, state: 'half-open' });
    expect(list()).to.deep.equal([]);
  });

  it('is updated while the same trouble lasts, with its last text and the time of its first', () => {
    const { events, list } = open();
    for (const failures of [4, 2, 3]) {
      events.breakerChanged?.({ ...breaker, failures, state: 'open' });
      events.limitReached?.({ bound: 'maxQueue' });
    }
    expect(
      list().map(({ text, times, since, at }) => [text, times, since.slice(17, 19), at.slice(17, 19)]),
    ).to.deep.equal([
      ['maxQueue is reached', 3, '01', '05'],
      ['acme: breaker open (3 of 4 calls failed)', 3, '00', '04'],
    ]);
    events.breakerChanged?.({ ...breaker, state: 'closed' });
    events.breakerChanged?.({ ...breaker, upstream: 'other', state: 'open' });
    events.breakerChanged?.({ ...breaker, state: 'open' });
    expect(list().map(({ text }) => text.slice(0, 17))).to.deep.equal([
      'acme: breaker ope',
      'other: breaker op',
      'acme: breaker clo',
      'maxQueue is reach',
      'acme: breaker ope',
    ]);
  });

  it('is one entry for a Redis that disconnects repeatedly within ten minutes', () => {
    let now = 0;
    const { events, changes } = recentChanges(() => new Date(now).toISOString());
    const seen = () =>
      changes().map(({ text, isTrouble, times, since }) => [text, isTrouble, times, since.slice(11, 19)]);
    const change = (isUp: boolean, seconds: number) => {
      now += 1000 * seconds;
      events.sharedStoreChanged?.({ isUp, why: isUp ? undefined : 'closed' });
    };
    change(true, 10);
    for (let count = 0; count < 24; count += 1) for (const isUp of [false, true]) change(isUp, 5);
    change(false, 595);
    events.listening?.({ url: 'u', resources: [] });
    expect(seen()).to.deep.equal([
      ['listening', false, 1, '00:14:05'],
      ['Redis unavailable: closed', true, 50, '00:00:10'],
    ]);
    change(true, 600);
    expect(seen()[0]).to.deep.equal(['Redis connected', false, 1, '00:24:05']);
  });

  it('is dropped when fifty others followed', () => {
    const { events, list } = open();
    for (let count = 0; count < 60; count += 1) events.settingsRefused?.({ issue: `${count}` });
    expect(list().map(({ text }) => text))
      .to.have.length(50)
      .and.not.include('settings refused: 9');
  });

  it('is one entry for all commands that Redis refuses for one reason, and none for others that fail', () => {
    const { events, list } = open();
    for (const command of ['lease', 'count', 'lease']) {
      events.sharedCommandEnded?.({ command, outcome: 'full', ms: 1 });
      events.sharedCommandEnded?.({ command, outcome: 'timeout', ms: 1 });
      events.sharedCommandEnded?.({ command, outcome: 'ok', ms: 1 });
    }
    expect(list().map(({ text, times }) => [text, times])).to.deep.equal([['Redis refuses commands: full', 3]]);
  });
});
