import { expect } from 'chai';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { callerWith, TOKEN } from '../../support/authorization/caller.ts';
import { asked, ENVELOPE, NO_HEADERS } from './asked.ts';

const INFO = 'io.modelcontextprotocol/clientInfo';

/** What is recorded of a client with such texts, by a request of 2026-07-28. */
async function recorded(clientInfo: unknown, rest = {}, { raw } = asked()) {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { ...ENVELOPE, [INFO]: clientInfo } } };
  return (await raw(JSON.stringify(message), rest)).record.client;
}

describe('the record of a client of MCP', () => {
  it('has its name, version and revision with each request since 2026-07-28', async () => {
    const { record } = await asked().current('tools/list', {}, { userAgent: 'node' });
    const client = { name: 'test', version: '1', userAgent: undefined, revision: '2026-07-28' };
    expect(record.client).to.deep.equal(client);
  });

  it('has User-Agent and the revision of the header with other requests before that', async () => {
    const headers = { ...NO_HEADERS, protocolVersion: '2025-11-25', userAgent: 'claude-code/2.1' };
    const { record } = await asked().earlier('tools/list', {}, { headers });
    const client = { name: undefined, version: undefined, userAgent: 'claude-code/2.1', revision: '2025-11-25' };
    expect(record.client).to.deep.equal(client);
    expect((await asked().earlier('ping')).record.client).to.equal(undefined);
  });

  it('has short texts without hidden characters', async () => {
    expect(await recorded({ name: 'a\u202eb\x1b[2J', version: 'é'.repeat(100) })).to.include({
      name: 'a\\u{202e}b\\u{1b}[2J',
      version: 'é'.repeat(64),
    });
    for (const info of ['text', null, { name: 1, version: {} }, { name: ['a'] }]) {
      expect(await recorded(info)).to.include({ name: undefined, version: undefined });
    }
  });

  it('has no text with a credential of the caller, however it is encoded', async () => {
    const caller = callerWith(`${TOKEN}/+`, {
      headerCredentials: new Map([['x-key', [new Credential('other-secret')]]]),
    });
    for (const text of [`${TOKEN}/+`, `a${encodeURIComponent(`${TOKEN}/+`)}b`, 'key other-secret']) {
      const client = await recorded({ name: text, version: text }, { caller });
      expect(client).to.include({ name: undefined, version: undefined });
      const headers = { ...NO_HEADERS, userAgent: text };
      expect((await asked().earlier('ping', {}, { caller, headers })).record.client).to.equal(undefined);
    }
  });
});
