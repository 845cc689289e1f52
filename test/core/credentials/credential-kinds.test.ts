import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { CREDENTIAL_KINDS, type CredentialKind } from '../../../src/core/kernel/credential-kinds.ts';
import type { SettingsInput } from '../../../src/gateway.ts';
import { settingsFor, startGateway, TOKEN } from '../../support/gateway.ts';
import { json, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { issuesOfApi } from '../config/schema/parsed.ts';

type Credential = NonNullable<SettingsInput['upstreams'][string]['credential']>;

const CLIENT = { kind: 'client_secret_post', id: 'portico', secret: 'hush' } as const;

/** Settings of each kind, whose tokens come from the server at `url`. */
const SETTINGS: Readonly<Record<CredentialKind, (url: string) => Credential>> = {
  passthrough: () => ({ kind: 'passthrough' }),
  header: () => ({ kind: 'header', name: 'X-Key' }),
  exchange: (url) => ({ kind: 'exchange', tokenUrl: `${url}/token`, audience: 'a', client: CLIENT }),
  'client-credentials': (url) => ({ kind: 'client-credentials', tokenUrl: `${url}/token`, client: CLIENT }),
  session: (url) => ({ kind: 'session', user: 'u', secret: 'hush', loginUrl: `${url}/login`, token: 'access_token' }),
  service: () => ({ kind: 'service', secret: 'secret-of-portico' }),
  none: () => ({ kind: 'none' }),
};

/** A platform, and a server of tokens, that show what they were sent. */
async function startServers() {
  const server = await startHttpUpstream(json({ access_token: 'made-token', token_type: 'Bearer', expires_in: 60 }));
  const headersOf = ({ headers }: IncomingMessage) => JSON.stringify(headers);
  const platform = await startHttpUpstream(lists({ tools: [{ id: 'a', name: 'A' }] }));
  return { server, platform, sent: () => platform.requests.map(headersOf).join() };
}

describe('a credential', () => {
  for (const [kind, facts] of Object.entries(CREDENTIAL_KINDS) as [
    CredentialKind,
    (typeof CREDENTIAL_KINDS)[CredentialKind],
  ][]) {
    const settings = SETTINGS[kind];
    const { usesCallerToken, provesToken } = facts;

    it(`of kind ${kind} is ${provesToken ? 'allowed' : 'refused'} where Portico does not verify callers`, () => {
      const issues = issuesOfApi({ credential: settings('https://login.example') });
      expect(issues.join()).to.match(provesToken ? /^$/ : /callers are not verified/);
    });

    it(`of kind ${kind} ${usesCallerToken ? 'is' : 'never holds'} the token of the caller`, async () => {
      const { server, platform, sent } = await startServers();
      const credential = settings(server.url);
      const { read } = await startGateway({
        ...settingsFor(platform.url, { upstream: { credential } }),
        allowUnverifiedCallers: true,
      });
      expect((await read('tools')).status).to.equal(200);
      expect(sent().includes(TOKEN)).to.equal(usesCallerToken);
      expect(sent().includes('made-token')).to.equal(['exchange', 'client-credentials', 'session'].includes(kind));
    });

    it(`of kind ${kind} gives the caller ${usesCallerToken ? 401 : 502} for a 401 and ${provesToken ? 403 : 502} for a 403`, async () => {
      for (const [status, expected] of [
        [401, usesCallerToken ? 401 : 502],
        [403, provesToken ? 403 : 502],
      ] as const) {
        const { server, platform } = await startServers();
        platform.respond(json({}, status));
        const credential = settings(server.url);
        const { read } = await startGateway({
          ...settingsFor(platform.url, { upstream: { credential } }),
          allowUnverifiedCallers: true,
        });
        expect((await read('tools')).status).to.equal(expected);
      }
    });
  }
});
