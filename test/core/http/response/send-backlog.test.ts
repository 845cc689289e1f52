import { expect } from 'chai';
import type { Exchange } from '../../../../src/core/http/exchange.ts';
import { createWriteBacklog } from '../../../../src/core/http/response/send.ts';

function setUp(maxBytes: number) {
  const aborted: string[] = [];
  const names = new Map<Exchange, string>();
  const backlog = createWriteBacklog(maxBytes, (exchange) => aborted.push(names.get(exchange) ?? ''));
  /** A response of so many bytes, of which the system has accepted some. */
  function add(name: string, bytes: number) {
    const socket = { bytesWritten: bytes, writableLength: bytes };
    const exchange = { bytes, req: { socket } } as Exchange;
    names.set(exchange, name);
    backlog.add(exchange);
    return {
      exchange,
      accept(accepted: number) {
        socket.writableLength = bytes - accepted;
      },
    };
  }
  return { aborted, add, remove: backlog.remove };
}

describe('a backlog of unread responses', () => {
  it('aborts the longest without progress first, and no more than it must', () => {
    const { aborted, add, remove } = setUp(100);
    const first = add('first', 20);
    add('second', 50);
    remove(first.exchange);
    add('third', 60);
    expect(aborted).to.deep.equal(['second']);
    add('fourth', 40);
    expect(aborted).to.deep.equal(['second']);
    add('fifth', 1);
    expect(aborted).to.deep.equal(['second', 'third']);
  });

  it('counts a response once, however often it is removed, aborts one beyond the bound, and counts none without a body', () => {
    const { aborted, add, remove } = setUp(100);
    const first = add('first', 60);
    remove(first.exchange);
    remove(first.exchange);
    add('empty', 0);
    add('second', 100);
    expect(aborted).to.deep.equal([]);
    add('third', 101);
    expect(aborted).to.deep.equal(['second', 'third']);
  });

  it('spares a client that reads slowly, unless all do', () => {
    const { aborted, add } = setUp(100);
    const slow = add('slow', 40);
    add('idle', 40);
    slow.accept(10);
    const third = add('third', 40);
    expect(aborted).to.deep.equal(['idle']);
    // All read a little: then the one that was checked longest ago.
    slow.accept(20);
    third.accept(20);
    add('fourth', 40);
    expect(aborted).to.deep.equal(['idle', 'slow']);
  });
});
