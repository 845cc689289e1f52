import { expect } from 'chai';
import { createStatusKeeper } from '../../../src/capabilities/status/status.ts';
import type { Now } from '../../../src/capabilities/status/view.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { joinEvents } from '../../../src/core/kernel/join-events.ts';

const ACME = { name: 'acme', breaker: 'closed' };
const TOOLS = { name: 'tools', uri: 'platform://tools', upstream: 'acme' };
const NOW: Now = {
  ...{ version: '1', isDraining: false, url: 'http://127.0.0.1', settingsFile: null, settings: '' },
  ...{ upstreams: [ACME], resources: [TOOLS], snapshots: { entries: 0, bytes: 0, maxBytes: 1 } },
};

function open() {
  const keeper = createStatusKeeper(() => 1_800_000_000_000);
  const events: Events = joinEvents(keeper.listeners);
  const view = (now: Partial<Now> = {}) => keeper.view({ ...NOW, ...now });
  return { events, view };
}

const asked = { requestId: 'r-1', upstream: 'acme' };
const bounds = { connections: 1, maxQueue: 1 };

describe('the status', () => {
  it('tells how many reads were served from what is held, of those that may be', () => {
    const { events, view } = open();
    expect(view().snapshots.hitRatio).to.equal(null);
    for (const cache of ['hit', 'hit', 'stale', 'miss', 'shared', 'bypass', 'bypass', undefined]) {
      events.readEnded?.({ resource: 'tools', cache });
    }
    expect(view().snapshots).to.include({ hits: 2, stale: 1, misses: 2, hitRatio: 0.6 });
  });

  it('counts what a platform is to blame for, and not what it said of a caller', () => {
    const { events, view } = open();
    for (const error of [undefined, 'credential_rejected', 'access_denied', 'upstream_failed']) {
      events.pageFetched?.({ ...asked, method: 'GET', ms: 1, bytes: 1, error });
    }
    const [acme] = view().upstreams;
    expect(acme?.total).to.include({ requests: 4, failures: 1 });
    expect(acme?.lastFailure).to.include({ code: 'upstream_failed' });
  });

  it('counts what the store that replicas share did not answer', () => {
    const { events, view } = open();
    expect(view().shared).to.equal(null);
    for (const outcome of ['ok', 'refused', 'timeout', 'failed', 'unavailable', 'refused_by_store'] as const) {
      events.sharedStoreAsked?.({ what: 'look', outcome, ms: 1 });
    }
    expect(view({ shared: { isUp: true } }).shared?.commands).to.include({ requests: 6, failures: 2 });
  });

  it('keeps nothing of upstreams and resources that are in settings no more', () => {
    const { events, view } = open();
    events.callRefused?.({ ...asked, code: 'breaker_open' });
    const list = { resource: 'tools', upstream: 'acme', pages: 1, items: 3, received: 3, excluded: 0, dropped: 0 };
    events.listLoaded?.({ ...list, defaulted: new Map() });
    expect([view().upstreams[0]?.refused, view().resources[0]?.items]).to.deep.equal([1, 3]);
    expect(view({ upstreams: [], resources: [] })).to.deep.include({ upstreams: [], resources: [] });
    expect([view().upstreams[0]?.refused, view().resources[0]?.items]).to.deep.equal([0, null]);
  });

  it('tells of servers beside the upstreams for as long as they are open, whatever is told late', () => {
    const { events, view } = open();
    const [first, second] = [Symbol('first'), Symbol('second')];
    const names = () => view().upstreams.map(({ name, breaker }) => `${name} ${breaker}`);
    events.upstreamOpened?.({ upstream: 'acme', opening: Symbol('acme'), ...bounds });
    events.upstreamOpened?.({ upstream: 'acme.exchange', opening: first, ...bounds });
    expect(names()).to.deep.equal(['acme closed', 'acme.exchange closed']);
    const change = { upstream: 'acme.exchange', state: 'open', calls: 1, failures: 1 } as const;
    events.breakerChanged?.({ ...change, opening: first });
    expect(names()).to.deep.equal(['acme closed', 'acme.exchange open']);
    events.upstreamClosed?.({ upstream: 'acme.exchange', opening: first });
    events.breakerChanged?.({ ...change, opening: first });
    events.breakerChanged?.({ ...change, opening: second });
    expect(names()).to.deep.equal(['acme closed']);
  });
});
