import { expect } from 'chai';
import { type Events, joinEvents } from '../../../src/core/kernel/events.ts';

describe('listeners that are joined', () => {
  const retry = { requestId: 'r-1', upstream: 'tools', retries: 1, delayMs: 5 };

  it('receive the events of their listeners, in order', () => {
    const heard: string[] = [];
    const events = joinEvents([
      { retried: ({ upstream }) => heard.push(`a ${upstream}`) },
      { draining: () => heard.push('b drains') },
      { retried: ({ retries }) => heard.push(`c ${retries}`) },
    ]);
    events.retried?.(retry);
    events.draining?.({ signal: 'SIGTERM' });
    expect(heard).to.deep.equal(['a tools', 'c 1', 'b drains']);
  });

  it('listen to nothing that none of them listens to', () => {
    expect(joinEvents([])).to.deep.equal({});
    const events: Events = joinEvents([{ draining: () => {} }, {}]);
    expect(Object.keys(events)).to.deep.equal(['draining']);
  });
});
