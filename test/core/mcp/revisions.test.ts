import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { expect } from 'chai';
import fc from 'fast-check';
import { CURRENT, readClaim } from '../../../src/core/mcp/revisions.ts';

const INFO = { name: 'client', version: '1' };

function claimOf(capabilities: unknown, info?: unknown, level?: unknown): string | undefined {
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: CURRENT,
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    [CLIENT_INFO_META_KEY]: info,
    [LOG_LEVEL_META_KEY]: level,
  };
  return readClaim({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta } });
}

describe('the envelope of a request', () => {
  const sound: [unknown, unknown?, unknown?][] = [
    [{}],
    [{ roots: { listChanged: true }, sampling: {}, elicitation: {}, experimental: { more: {} } }, INFO, 'debug'],
    [{}, { ...INFO, title: 'Client', websiteUrl: 'https://client.example', icons: [] }],
  ];
  for (const made of sound) {
    it(`is valid with ${JSON.stringify(made)}`, () => {
      expect(claimOf(...made)).to.equal(CURRENT);
    });
  }

  const unsound: typeof sound = [
    [undefined],
    [null],
    [[]],
    ['all'],
    [{ roots: { listChanged: 'yes' } }],
    [{ sampling: true }],
    [{}, null],
    [{}, { name: 'client' }],
    [{}, { ...INFO, title: 1 }],
    [{}, INFO, 'loud'],
  ];
  for (const made of unsound) {
    it(`is not valid with ${JSON.stringify(made).slice(0, 60)}`, () => {
      expect(() => claimOf(...made)).to.throw('has an envelope in params._meta');
    });
  }

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
        const isSound = isSpecType.ClientCapabilities(can) && isSpecType.Implementation(is);
        if (isSound) valid += 1;
        expect(isClaimed(can, is)).to.equal(isSound);
      }),
      { numRuns: 4000 },
    );
    expect(valid).to.be.above(50);
  });
});

function isClaimed(capabilities: unknown, info: unknown): boolean {
  try {
    return claimOf(capabilities, info) === CURRENT;
  } catch {
    return false;
  }
}
