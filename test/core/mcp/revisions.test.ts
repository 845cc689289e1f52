import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { expect } from 'chai';
import fc from 'fast-check';
import { CURRENT, readClaim } from '../../../src/core/mcp/revisions.ts';

const INFO = { name: 'client', version: '1' };

/** With what decides whether a part is sound. */
const EXAMPLES: [unknown, unknown][] = [
  ...['yes', true].map((listChanged): [unknown, unknown] => [{ roots: { listChanged } }, INFO]),
  ...[{ name: 'client' }, { version: '1' }, null, undefined].map((info): [unknown, unknown] => [{}, info]),
];

function isClaimed(capabilities: unknown, info: unknown): boolean {
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: CURRENT,
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    [CLIENT_INFO_META_KEY]: info,
  };
  try {
    return readClaim({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta } }) === CURRENT;
  } catch (error) {
    expect((error as Error).message).to.contain('requires protocolVersion');
    return false;
  }
}

describe('the envelope of a request', () => {
  it('is valid exactly where the schemas of the SDK say so', () => {
    const value = fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      fc.constantFrom<unknown>('a', '', 1, true, null, [], { a: {} }, { listChanged: true }),
    );
    const members = (names: readonly string[]) =>
      fc
        .dictionary(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) }, fc.string({ maxLength: 9 })), value)
        .map((object): unknown => JSON.parse(JSON.stringify(object)));
    const capabilities = members(['roots', 'sampling', 'elicitation', 'experimental', 'extensions', 'tasks']);
    const info = fc
      .tuple(
        members(['title', 'websiteUrl', 'icons', 'description']),
        fc.constantFrom({}, INFO, { ...INFO, title: 'A' }),
      )
      .map((parts): unknown => Object.assign({}, ...parts));
    let valid = 0;
    fc.assert(
      fc.property(fc.oneof(capabilities, value), fc.oneof(info, value), (can, is) => {
        const isSound = isSpecType.ClientCapabilities(can) && (is === undefined || isSpecType.Implementation(is));
        if (isSound) valid += 1;
        expect(isClaimed(can, is)).to.equal(isSound);
      }),
      { numRuns: 4000, examples: EXAMPLES },
    );
    expect(valid).to.be.above(50);
  });
});
