import {
  type CallToolResult,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { captureLog } from '../../core/log/captured-log.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../support/authorization/authorization-server.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { freePort } from '../../support/listening.ts';
import { type HttpUpstream, json, lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';

const REDIRECT = 'http://127.0.0.1:1/callback';
const WELL_KNOWN = '/.well-known/oauth-protected-resource/mcp';

/** What a client keeps of a person who signs in. */
type Person = OAuthClientProvider & {
  /** Where the person was sent to sign in, oldest first. */
  readonly sent: URL[];
};

function createPerson(tokens?: { access_token: string; scope: string; issuer: string }): Person {
  const sent: URL[] = [];
  const kept: {
    client?: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
    tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
    verifier?: string;
    state?: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
  } = { tokens: tokens && { ...tokens, token_type: 'Bearer' } };
  const keep = (more: typeof kept) => void Object.assign(kept, more);
  return {
    sent,
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'test',
      redirect_uris: [REDIRECT],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => keep({ client }),
    tokens: () => kept.tokens,
    saveTokens: (saved) => keep({ tokens: saved }),
    codeVerifier: () => kept.verifier ?? '',
    saveCodeVerifier: (verifier) => keep({ verifier }),
    discoveryState: () => kept.state,
    saveDiscoveryState: (state) => keep({ state }),
    redirectToAuthorization: (url) => void sent.push(url),
  };
}

/** How an SDK connects: with a person who may sign in, or with the headers of its settings. */
function sdkOf(
  name: string,
  newClient: () => Client,
  Transport: typeof StreamableHTTPClientTransport,
  answerOf: (back: URL) => URLSearchParams = (back) => back.searchParams,
) {
  return {
    name,
    open(url: string, { person, headers = {} }: { person?: Person; headers?: Record<string, string> }) {
      const open = () =>
        new Transport(new URL(`${url}/mcp`), { requestInit: { headers }, ...(person && { authProvider: person }) });
      let transport = open();
      return {
        async connect() {
          const client = newClient();
          transport = open();
          await client.connect(transport);
          return {
            list: async () => (await client.listResources()).resources.map((resource) => resource.name),
            read: async (resource: string) => {
              const uri = `platform://${resource}`;
              return textOf((await client.readResource({ uri }, { cacheMode: 'bypass' })).contents);
            },
            call: (tool: string) => client.callTool({ name: tool }),
            close: () => client.close(),
          };
        },
        /** Takes what the person was sent back with. */
        finish: (back: URL) => transport.finishAuth(answerOf(back)),
      };
    },
  };
}

const ABOUT = { name: 'test', version: '0' };

const sdkV2 = (mode: VersionNegotiationMode) => {
  const newClient = () => new Client(ABOUT, { versionNegotiation: { mode } });
  return sdkOf(`@modelcontextprotocol/client 2, ${mode}`, newClient, StreamableHTTPClientTransport);
};

// Its methods are those of version 2, as far as they are called here; its types are not.
const sdkV1 = sdkOf(
  '@modelcontextprotocol/sdk 1',
  () => new ClientV1(ABOUT) as unknown as Client,
  TransportV1 as never,
  (back) => (back.searchParams.get('code') ?? '') as never,
);

function textOf([content]: readonly object[]): string {
  return content !== undefined && 'text' in content ? String(content.text) : expect.fail('there is no text');
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('it did not fail'),
    (error: Error) => error,
  );

describe('a person who signs in', () => {
  let server: AuthorizationServer;
  let platform: HttpUpstream;
  let url: string;
  let log: ReturnType<typeof captureLog>;

  const routes = () => log.lines().map(({ route }) => route);

  async function start({ authorizationServers = [server.issuer], rest = {} as Partial<TestSettings> } = {}) {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    log = captureLog();
    const settings = settingsFor(platform.url, {
      log: { level: 'info' },
      http: { port },
      publicUrl: url,
      verification: { issuer: server.issuer, authorizationServers },
      resources: { projects: { requiredScopes: ['read'] }, tools: { requiredScopes: ['read', 'admin'] } },
      ...rest,
    });
    return startGateway(settings, { logger: log.logger });
  }

  beforeEach(async () => {
    server = await startAuthorizationServer();
    platform = await startHttpUpstream(
      lists({ projects: [toolItem('p')], workflows: [toolItem('w')], tools: [toolItem('t')] }),
    );
  });

  for (const sdk of [sdkV2('legacy'), sdkV2('auto'), sdkV1]) {
    describe(`through ${sdk.name}`, () => {
      it('is led by the first 401 to a token for this server, and reads', async () => {
        await start();
        const person = createPerson();
        const connecting = sdk.open(url, { person });
        await failure(connecting.connect());
        expect(person.sent).to.have.length(1);
        const asked = person.sent[0]?.searchParams;
        expect(asked?.get('resource')).to.equal(`${url}/mcp`);
        // offline_access is of the client's own: it wants a refresh token.
        expect(asked?.get('scope')?.replace(' offline_access', '')).to.equal('admin read');

        await connecting.finish(await server.signIn(person.sent[0] ?? ''));
        const session = await connecting.connect();
        expect(await session.list()).to.deep.equal(['projects', 'workflows', 'tools']);
        expect(JSON.parse(await session.read('tools'))).to.have.length(1);
        expect(await session.call('list_projects')).to.have.nested.property('structuredContent.total', 1);
        await session.close();
        expect(routes()).to.include(WELL_KNOWN);
        const token = tokenOf(platform.requests.at(-1) ?? expect.fail('nothing was asked'));
        expect(decodeJwt(token)).to.include({ aud: `${url}/mcp`, iss: server.issuer });
        expect(log.text()).to.not.contain(token);
      });

      it('uses the configured token without discovery', async () => {
        await start();
        const token = await server.issue({ resource: `${url}/mcp` });
        const session = await sdk.open(url, { headers: { Authorization: `Bearer ${token}` } }).connect();
        expect(JSON.parse(await session.read('tools'))).to.have.length(1);
        await session.close();
        expect(routes()).to.not.include(WELL_KNOWN);
      });

      it('is asked to sign in again when a platform rejects the token', async () => {
        await start();
        const token = await server.issue({ resource: `${url}/mcp` });
        const person = createPerson({ access_token: token, scope: 'read admin', issuer: server.issuer });
        const connecting = sdk.open(url, { person });
        const session = await connecting.connect();
        const all = lists({ projects: [toolItem('p')], tools: [toolItem('t')] });
        platform.respond((request, response) =>
          tokenOf(request) === token ? json({}, 401)(request, response) : all(request, response),
        );
        for (const ask of [() => session.read('tools'), () => session.call('list_installed_tools')]) {
          await failure(ask());
        }
        expect(person.sent).to.have.length(2);
        await connecting.finish(await server.signIn(person.sent[1] ?? ''));
        expect(JSON.parse(await session.read('tools'))).to.have.length(1);
        await session.close();
      });
    });
  }

  for (const sdk of [sdkV2('legacy'), sdkV2('auto')]) {
    it(`is asked for more scopes when a read needs them: ${sdk.name}`, async () => {
      await start();
      const token = await server.issue({ resource: `${url}/mcp`, scope: 'read' });
      const person = createPerson({ access_token: token, scope: 'read', issuer: server.issuer });
      const connecting = sdk.open(url, { person });
      const session = await connecting.connect();
      expect(JSON.parse(await session.read('projects'))).to.have.length(1);
      expect(person.sent).to.have.length(0);

      for (const [index, ask] of [() => session.read('tools'), () => session.call('list_installed_tools')].entries()) {
        await failure(ask());
        expect(person.sent).to.have.length(index + 1);
        const scopes = person.sent[index]?.searchParams.get('scope')?.split(' ');
        expect(scopes).to.include.members(['read', 'admin']);
      }
      await connecting.finish(await server.signIn(person.sent[1] ?? ''));
      expect(JSON.parse(await session.read('tools'))).to.have.length(1);
      expect(((await session.call('list_installed_tools')) as CallToolResult).isError).to.not.equal(true);
      await session.close();
    });
  }

  it('gets the missing scopes in the message when no authorization server is configured', async () => {
    await start({ authorizationServers: [] });
    const person = createPerson();
    await failure(sdkV2('legacy').open(url, { person }).connect());
    expect(person.sent).to.have.length(0);

    const token = await server.issue({ resource: `${url}/mcp`, scope: 'read' });
    const session = await sdkV2('legacy')
      .open(url, { person: createPerson({ access_token: token, scope: 'read', issuer: server.issuer }) })
      .connect();
    expect((await failure(session.read('tools'))).message).to.contain('the scopes read admin');
    const called = (await session.call('list_installed_tools')) as CallToolResult;
    expect(called.isError).to.equal(true);
    expect(JSON.stringify(called.content)).to.contain('access_denied');
    await session.close();
  });
});
