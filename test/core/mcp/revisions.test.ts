import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { expect } from 'chai';
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
    [{ experimental: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [index, {}])) }],
  ];
  for (const made of unsound) {
    it(`is not valid with ${JSON.stringify(made).slice(0, 60)}`, () => {
      expect(() => claimOf(...made)).to.throw('has an envelope in params._meta');
    });
  }
});
