import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createWaiting, withSingleFlight } from '../../../../src/core/reads/snapshots/with-cache.ts';
import { loadOf } from '../../../support/platform/loads.ts';
import { callerOf, createFakeLoader, errorOf, never, roomy, text } from './fake-loader.ts';

function flights(waiting = roomy()) {
  const { load, pendingLoads } = createFakeLoader(() => 0);
  return { read: withSingleFlight(load, { resource: 'tools', waiting, events: {} }), pendingLoads };
}

const alice = callerOf('alice');

describe('reads beyond the bounds of waiting', () => {
  const setUp = (maxWaiting: number, maxWaitingPerCaller: number) =>
    flights(createWaiting({ maxWaiting, maxWaitingPerCaller }));
  const bob = callerOf('bob');

  it('of one caller are rejected, also after one of its reads has left, and leave room for others', async () => {
    const { read, pendingLoads } = setUp(10, 2);
    const leaving = new AbortController();
    const readings = [read(alice, never)];
    const left = errorOf(read(alice, leaving.signal));
    const rejected = { code: 'overloaded', retryAfterSeconds: 1, bound: 'maxWaitingPerCaller' };
    expect(await errorOf(read(alice, never))).to.include(rejected);
    leaving.abort();
    await left;
    readings.push(read(alice, never));
    expect(await errorOf(read(alice, never))).to.include(rejected);
    readings.push(read(bob, never));
    for (const pendingLoad of pendingLoads) pendingLoad.finish();
    expect((await Promise.all(readings)).map(text)).to.deep.equal(['[]', '[]', '[]']);
    expect(pendingLoads.map(({ caller }) => caller.credentialKey)).to.deep.equal(['alice', 'bob']);
  });
});

describe('a load that all its readers have left', () => {
  it('is not joined by the next reader, even if it goes on', async () => {
    let loads = 0;
    const load = () => {
      loads += 1;
      return loads === 1 ? new Promise<never>(() => {}) : Promise.resolve(loadOf([]));
    };
    const read = withSingleFlight(load, { resource: 'tools', waiting: roomy(), events: {} });
    const leaving = new AbortController();
    const left = errorOf(read(alice, leaving.signal));
    leaving.abort();
    await left;
    expect(text(await read(alice, never))).to.equal('[]');
  });
});

describe('waiting slots', () => {
  const setUp = () => {
    const waiting = createWaiting({ maxWaiting: 5, maxWaitingPerCaller: 5 });
    let made = 0;
    const guess = (address = '203.0.113.1') => {
      made += 1;
      const caller = { credentialKey: `made up ${made}`, address };
      waiting.enter(caller);
      return caller;
    };
    return { ...waiting, guess };
  };

  it('are given to one address for at most half, whatever its tokens, and released one by one', () => {
    const { enter, leave, guess } = setUp();
    const [first] = [guess(), guess(), guess()];
    const taken = { code: 'overloaded', bound: 'maxWaiting' };
    expect(() => guess())
      .to.throw(GatewayError, /by one address/)
      .that.includes(taken);
    leave(first);
    guess();
    expect(() => guess()).to.throw(GatewayError, /by one address/);
    guess('203.0.113.2');
    enter({ credentialKey: 'verified' });
    expect(() => enter({ credentialKey: 'verified' })).to.throw(GatewayError, /^maxWaiting is reached/);
  });
});
