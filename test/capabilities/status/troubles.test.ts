import { expect } from 'chai';
import { createTroubles } from '../../../src/capabilities/status/troubles.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';

function open() {
  let seconds = 0;
  const { events, changes } = createTroubles(() => new Date(1000 * seconds++).toISOString());
  const list = () =>
    changes().map(({ isTrouble, text, why, times }) => `${isTrouble ? '!' : ''}${text} ×${times}${why && ` (${why})`}`);
  return { events, list, changes };
}

/** Events, each twice, by the changes that are listed then, the newest first. `!` marks trouble. */
const LISTED: Readonly<Record<string, (events: Events) => void>> = {
  '!tools: name is empty in every item ×2': (events) =>
    events.mappingWarning?.({ resource: 'tools', upstream: 'acme', finding: 'field_empty', field: 'name' }),
  'settings: changed ×2 (scheme)': (events) => events.settingsChanged?.({ applied: ['scheme'], needRestart: [] }),
  '!restart: pending ×2 (cache), !settings: refused ×2 (scheme: missing)': (events) => {
    events.settingsRefused?.({ issue: 'scheme: missing' });
    events.settingsReloaded?.({ needRestart: ['cache'] });
  },
  'http.tls: files reloaded ×2, !http.tls: file unusable ×2 (keyFile is no key)': (events) => {
    events.filesChanged?.({ block: 'http.tls', key: 'keyFile', issue: 'is no key' });
    events.filesChanged?.({ block: 'http.tls' });
  },
  '!issuer: keys cannot be fetched ×2 (no response), issuer: keys fetched ×2': (events) => {
    events.issuerKeysFetched?.({ keys: 2 });
    events.issuerKeysFetched?.({ keys: 2, error: new GatewayError('internal', { reason: 'no response' }) });
  },
  'Redis: connected ×2, !Redis: unreachable ×2 (timeout)': (events) => {
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

  it('have the time of the last of a repeated change', () => {
    const { events, changes } = open();
    for (let times = 0; times < 3; times += 1) events.limitReached?.({ bound: 'maxQueue' });
    expect(changes()[0]?.at.slice(17, 19)).to.equal('02');
  });

  it('are fifty at most', () => {
    const { events, list } = open();
    for (let count = 0; count < 60; count += 1) events.limitReached?.({ bound: `${count}` });
    expect(list()).to.have.length(50).and.not.include('!9 is reached ×1');
  });
});
