import { expect } from 'chai';
import { GatewayError } from '../../src/kernel/errors.ts';
import type { Facts } from '../../src/mcp/ask.ts';
import type { Era } from '../../src/mcp/era.ts';
import { finished, protocolErrorOf } from '../../src/mcp/rpc-error.ts';
import { callerWith } from '../support/caller.ts';

/** What becomes of an error on its way out. */
function finish(error: { code: number; message: string; data?: unknown }, era: Era = 'modern') {
  const bugs: unknown[] = [];
  let facts: Facts = {};
  const message = finished({ jsonrpc: '2.0', id: 1, error }, era, {
    caller: callerWith(),
    noCache: false,
    note: (more) => {
      facts = { ...facts, ...more };
    },
    logBug: (bug) => bugs.push(bug),
  });
  return { message, facts, bugs };
}

describe('an error of JSON-RPC', () => {
  it('that the SDK makes of a fault in here tells nothing of it, and is logged', () => {
    for (const code of [-32603, -32000, 1]) {
      const { message, facts, bugs } = finish({ code, message: 'at http://internal.example', data: { stack: 'x' } });
      expect(message).to.deep.equal({
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32603,
          message: 'Something is wrong inside Portico. The requestId finds it in the log.',
          data: {
            code: 'internal',
            requestId: 'request-of-the-test',
            upstream: undefined,
            retryAfterSeconds: undefined,
          },
        },
      });
      expect(facts.failure?.code).to.equal('internal');
      expect(bugs).to.have.length(1);
    }
  });

  it('that the SDK makes of a bad message keeps what it says, but for what a schema found', () => {
    const told = finish({ code: -32602, message: 'no notifications', data: { key: 'a' } });
    expect(told.message).to.deep.nested.include({ 'error.message': 'no notifications', 'error.data.key': 'a' });
    expect(told.message).to.nested.include({ 'error.data.code': 'invalid_params' });
    expect(told.bugs).to.deep.equal([]);
    const listed = finish({ code: -32602, message: 'bad: [\n{}]' });
    expect(listed.message).to.nested.include({
      'error.message': 'The parameters are not those that this method takes.',
    });
  });

  it('of ours goes out as it is, but for the older name of an unknown resource', () => {
    const ours = protocolErrorOf(new GatewayError('resource_unknown'), 'mine', { uri: 'platform://nothing' });
    expect(ours.data).to.include({ code: 'resource_unknown', requestId: 'mine', uri: 'platform://nothing' });
    const error = { code: ours.code, message: ours.message, data: ours.data };
    expect(finish(error).message).to.deep.nested.include({ error });
    expect(finish(error, 'legacy').message).to.nested.include({ 'error.code': -32002, 'error.data.requestId': 'mine' });
    const failed = protocolErrorOf(new GatewayError('upstream_failed'), 'mine', { uri: 'platform://tools' });
    expect(failed.data).not.to.have.property('uri');
    expect(finish({ ...failed, message: failed.message }, 'legacy').message).to.nested.include({
      'error.code': -32603,
      'error.data.code': 'upstream_failed',
    });
  });
});
