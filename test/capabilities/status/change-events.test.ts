import { expect } from 'chai';
import { changeEvents } from '../../../src/capabilities/status/change-events.ts';
import { createRecentChanges } from '../../../src/capabilities/status/recent-changes.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';

function open() {
  let seconds = 0;
  const changes = createRecentChanges(() => new Date(1000 * seconds++).toISOString());
  return { events: changeEvents(changes), list: changes.list };
}

const breaker = { upstream: 'acme', calls: 4, failures: 4 };

/** What is told, and as what: `!` ahead of what somebody should look at. */
const TOLD: Readonly<Record<string, (events: Events) => void>> = {
  '!tools: nothing is left of a reply that was not empty (nothing_left)': (events) =>
    events.mappingDoubted?.({ resource: 'tools', upstream: 'acme', finding: 'nothing_left' }),
  '!tools: name is empty in every item (field_empty)': (events) =>
    events.mappingDoubted?.({ resource: 'tools', upstream: 'acme', finding: 'field_empty', field: 'name' }),
  '!acme: breaker open (4 of 4 calls failed)': (events) => events.breakerChanged?.({ ...breaker, state: 'open' }),
  'acme: breaker closed (4 of 4 calls failed)': (events) => events.breakerChanged?.({ ...breaker, state: 'closed' }),
  'settings changed: scheme': (events) => events.settingsChanged?.({ applied: ['scheme'], needRestart: [] }),
  '!settings unchanged; need a restart: cache': (events) =>
    events.settingsChanged?.({ applied: [], needRestart: ['cache'] }),
  'acme: another secret was taken from its file': (events) => events.secretChanged?.({ upstream: 'acme' }),
  '!verification.introspection: the file of its secret is empty': (events) =>
    events.secretChanged?.({ block: 'verification.introspection', issue: 'is empty' }),
  'http.tls: other certificates were taken from their files': (events) =>
    events.tlsFilesChanged?.({ block: 'http.tls' }),
  '!http.tls: keyFile is no key': (events) =>
    events.tlsFilesChanged?.({ block: 'http.tls', key: 'keyFile', issue: 'is no key' }),
  '2 keys of the issuer were fetched': (events) => events.issuerKeysFetched?.({ keys: 2 }),
  '!keys of the issuer: no response': (events) =>
    events.issuerKeysFetched?.({ keys: 2, error: new GatewayError('internal', { reason: 'no response' }) }),
  'the shared store is there': (events) => events.sharedStoreChanged?.({ isUp: true }),
  '!the shared store is away: timeout': (events) => events.sharedStoreChanged?.({ isUp: false, why: 'timeout' }),
  '!evictions of other replicas may have been missed': (events) => events.sharedEvictionsHeard?.({ names: undefined }),
  '!acme: sent unsolicited bytes': (events) => events.unsolicitedResponse?.({ upstream: 'acme' }),
  '!acme: maxQueue is reached': (events) => events.boundReached?.({ bound: 'maxQueue', upstream: 'acme' }),
  '!maxWaiting is reached': (events) => events.boundReached?.({ bound: 'maxWaiting' }),
  '!connections were refused: http.maxConnections are open': (events) =>
    events.connectionsRefused?.({ maxConnections: 1 }),
  '!a listener failed': (events) => events.listenerFailed?.({ error: new Error('E') }),
  '!a bug: the log has its stack under r-1': (events) => events.internalError?.({ requestId: 'r-1', stack: 'S' }),
  listening: (events) => events.listening?.({ url: 'u', resources: [] }),
  draining: (events) => events.draining?.({}),
};

describe('a change that is told', () => {
  for (const [told, tell] of Object.entries(TOLD)) {
    it(`reads: ${told}`, () => {
      const { events, list } = open();
      tell(events);
      expect(list().map(({ text, isTrouble }) => (isTrouble ? `!${text}` : text))).to.deep.equal([told]);
    });
  }

  it('is none where one call tries a breaker, or evictions of other replicas are known', () => {
    const { events, list } = open();
    events.breakerChanged?.({ ...breaker, state: 'half-open' });
    events.sharedEvictionsHeard?.({ names: 3 });
    expect(list()).to.deep.equal([]);
  });

  it('is the same one for as long as the same is in trouble, with the last words, and with since when', () => {
    const { events, list } = open();
    for (const failures of [4, 2, 3]) {
      events.breakerChanged?.({ ...breaker, failures, state: 'open' });
      events.boundReached?.({ bound: 'maxQueue' });
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

  it('is one of many bugs, which push nothing else out', () => {
    const { events, list } = open();
    events.settingsChanged?.({ applied: ['scheme'], needRestart: [] });
    for (let count = 0; count < 200; count += 1) {
      events.internalError?.({ requestId: `r-${count}`, stack: 'S' });
      events.connectionsRefused?.({ maxConnections: 1 });
    }
    expect(list().map(({ event, times }) => [event, times])).to.deep.equal([
      ['connectionsRefused', 200],
      ['internalError', 200],
      ['settingsChanged', 1],
    ]);
  });
});
