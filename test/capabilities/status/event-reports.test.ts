import { expect } from 'chai';
import { createEventReports } from '../../../src/capabilities/status/event-reports.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';

function open() {
  let seconds = 0;
  const { events, changes } = createEventReports(
    () => 1000 * seconds,
    () => new Date(1000 * seconds++).toISOString(),
  );
  return {
    events,
    list: () => changes().map(({ isTrouble, text, times }) => `${isTrouble ? '!' : ''}${text} ×${times}`),
    changes,
  };
}

const breaker = { upstream: 'acme', calls: 4, failures: 4 };

/** Events, each twice, by the changes that are listed then, the newest first. `!` marks trouble. */
const LISTED: Readonly<Record<string, (events: Events) => void>> = {
  '!tools: name is empty in every item ×2': (events) =>
    events.mappingWarning?.({ resource: 'tools', upstream: 'acme', finding: 'field_empty', field: 'name' }),
  'acme: breaker closed ×2, !acme: breaker open ×2': (events) => {
    for (const state of ['open', 'half-open', 'closed'] as const) events.breakerChanged?.({ ...breaker, state });
  },
  'settings: changed (scheme) ×2': (events) => events.settingsChanged?.({ applied: ['scheme'], needRestart: [] }),
  '!restart: pending (cache) ×2, !settings: refused (scheme: missing) ×2': (events) => {
    events.settingsRefused?.({ issue: 'scheme: missing' });
    events.settingsReloaded?.({ needRestart: ['cache'] });
  },
  'http.tls: files reloaded ×2, !http.tls: file unusable (keyFile is no key) ×2': (events) => {
    events.filesChanged?.({ block: 'http.tls', key: 'keyFile', issue: 'is no key' });
    events.filesChanged?.({ block: 'http.tls' });
  },
  '!issuer: keys cannot be fetched (no response) ×2, issuer: 2 keys fetched ×2': (events) => {
    events.issuerKeysFetched?.({ keys: 2 });
    events.issuerKeysFetched?.({ keys: 2, error: new GatewayError('internal', { reason: 'no response' }) });
  },
  'Redis: connected ×2, !Redis: unreachable (timeout) ×2': (events) => {
    for (const isUp of [false, true]) events.sharedStoreChanged?.({ isUp, why: 'timeout' });
  },
  '!Redis: commands refused, because its memory is full ×2': (events) => {
    for (const outcome of ['ok', 'timeout', 'full'] as const) {
      events.sharedCommandEnded?.({ command: 'set', outcome, ms: 1 });
    }
  },
  '!maxWaiting is reached ×2, !acme: maxQueue is reached ×2': (events) => {
    for (const limit of [{ bound: 'maxQueue', upstream: 'acme' }, { bound: 'maxWaiting' }])
      events.limitReached?.(limit);
  },
  '!connections refused: http.maxConnections are open ×2': (events) =>
    events.connectionsRefused?.({ maxConnections: 1 }),
  '!a listener failed ×2': (events) => events.listenerFailed?.({ error: new Error('E') }),
  '!Portico: a bug, whose stack is in the log ×2': (events) => events.internalError?.({ requestId: 'r-1', stack: 'S' }),
  'draining ×2, listening ×2': (events) => {
    events.listening?.({ url: 'u', resources: [] });
    events.draining?.({});
  },
};

describe('the recent changes', () => {
  for (const [lines, emit] of Object.entries(LISTED)) {
    it(`list each once, with how often it happened: ${lines}`, () => {
      const { events, list } = open();
      for (let times = 0; times < 2; times += 1) emit(events);
      expect(list().join(', ')).to.equal(lines);
    });
  }

  it('have the time of the first and of the last of a repeated change', () => {
    const { events, changes } = open();
    for (let times = 0; times < 3; times += 1) events.limitReached?.({ bound: 'maxQueue' });
    const [{ since = '', at = '' } = {}] = changes();
    expect([since.slice(17, 19), at.slice(17, 19)]).to.deep.equal(['00', '02']);
  });

  it('are fifty at most', () => {
    const { events, list } = open();
    for (let count = 0; count < 60; count += 1) events.settingsRefused?.({ issue: `${count}` });
    expect(list()).to.have.length(50).and.not.include('!settings: refused (9) ×1');
  });
});
