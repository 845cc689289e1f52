import { isJSONRPCNotification, isJSONRPCRequest } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import fc from 'fast-check';
import { isNotification, isRequest } from '../../../src/core/mcp/message.ts';

/** Each with the guard of the SDK that it replaces. */
const GUARDS = [
  [isRequest, isJSONRPCRequest],
  [isNotification, isJSONRPCNotification],
] as const;

const value = fc.oneof(
  fc.constantFrom(null, true, 0, -0, 1.5, 2 ** 53, '', 'a', '2.0', [], {}, [1], { taskId: 1 }, { taskId: 'a' }),
  fc.jsonValue({ maxDepth: 2 }),
);
const member = (sound: fc.Arbitrary<unknown>) => fc.oneof({ weight: 6, arbitrary: sound }, value);
const id = fc.oneof(fc.integer(), fc.string());
const meta = fc.record(
  {
    progressToken: member(id),
    'io.modelcontextprotocol/related-task': member(
      fc.record({ taskId: member(fc.string()), more: value }, { requiredKeys: [] }),
    ),
    'io.modelcontextprotocol/serverInfo': value,
    more: value,
  },
  { requiredKeys: [] },
);
const params = fc.record({ _meta: member(meta), more: value }, { requiredKeys: [] });
const error = fc.record(
  { code: member(fc.integer()), message: member(fc.string()), data: value, more: value },
  { requiredKeys: [] },
);
const message = fc.record(
  {
    jsonrpc: member(fc.constant('2.0')),
    id: member(id),
    method: member(fc.constant('ping')),
    params: member(params),
    result: member(params),
    error: member(error),
    more: value,
  },
  { requiredKeys: [] },
);
/** Messages as they should be, but for a member or two. */
const almost = fc.oneof(
  ...[['id', 'method', 'params'], ['method', 'params'], ['id', 'method'], ['method']].map((names) =>
    fc
      .tuple(message, fc.constantFrom('', '', '', '__proto__', 'constructor', 'more', 'toString'))
      .map(([{ jsonrpc: _, ...one }, odd]) => {
        const members = Object.entries(one).filter(([name]) => names.includes(name));
        const more = odd === '' ? [] : [[odd, 1] as const];
        return Object.fromEntries([['jsonrpc', '2.0'], ...members, ...more]);
      }),
  ),
);

/** Returns for how many of the guards of the SDK it is sound. */
function compare(text: string): number {
  const parsed: unknown = JSON.parse(text);
  for (const [ours, theirs] of GUARDS) expect(ours(parsed), `${ours.name} of ${text}`).to.equal(theirs(parsed));
  return GUARDS.filter(([, theirs]) => theirs(parsed)).length;
}

describe('the type guards of JSON-RPC', () => {
  it('agree with those of the SDK on random JSON', () => {
    let sound = 0;
    fc.assert(
      fc.property(fc.oneof(almost, message, value), (made) => {
        sound += compare(JSON.stringify(made));
      }),
      { numRuns: 5000 },
    );
    expect(sound).to.be.above(200);
  });

  it('agree with those of the SDK on edge cases', () => {
    for (const text of [
      '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"_meta":1}}}',
      '{"__proto__":{"jsonrpc":"2.0"},"id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
    ]) {
      compare(text);
    }
  });
});
