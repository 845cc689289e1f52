import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createWaiting } from '../../../../src/core/reads/snapshots/waiting.ts';

const ADDRESS = '203.0.113.1';

describe('places of reads that wait', () => {
  const setUp = () => {
    const waiting = createWaiting({ maxWaiting: 5, maxWaitingPerCaller: 5 });
    let made = 0;
    const guess = (address = ADDRESS) => {
      made += 1;
      const caller = { key: `made up ${made}`, address };
      waiting.enter(caller);
      return caller;
    };
    return { ...waiting, guess };
  };

  it('are half of them at most for one address, whatever tokens come from there', () => {
    const { enter, guess } = setUp();
    for (let count = 0; count < 3; count += 1) guess();
    expect(() => guess())
      .to.throw(GatewayError)
      .that.includes({ code: 'overloaded', bound: 'maxWaiting' });
    expect(() => guess()).to.throw(GatewayError, /by one address/);
    guess('203.0.113.2');
    enter({ key: 'verified' });
    expect(() => enter({ key: 'verified' })).to.throw(GatewayError, /^maxWaiting is reached/);
  });

  it('are all for callers that were verified, wherever they ask from', () => {
    const { enter } = setUp();
    for (let count = 0; count < 5; count += 1) enter({ key: 'verified' });
    expect(() => enter({ key: 'verified' })).to.throw(GatewayError);
  });

  it('come back one by one to the address that had them', () => {
    const { leave, guess } = setUp();
    const [first] = [guess(), guess(), guess()];
    leave(first);
    guess();
    expect(() => guess()).to.throw(GatewayError);
  });
});
