import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { captureLog } from '../../core/log/captured-log.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../support/authorization/authorization-server.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { freePort } from '../../support/listening.ts';
import { type HttpUpstream, json, lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';

const REDIRECT = 'http://127.0.0.1:1/callback';
const LISTS = lists({ projects: [toolItem('p')], tools: [toolItem('t')] });
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

type Mode = 'legacy' | 'auto';

/** How a client of the SDK connects for a person who may sign in. */
function openFor(person: Person, url: string, mode: Mode) {
  let transport: StreamableHTTPClientTransport;
  return {
    async connect() {
      const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
      transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: person });
      await client.connect(transport);
      onCleanup(() => client.close());
      return {
        async read(resource: string) {
          const { contents } = await client.readResource({ uri: `platform://${resource}` }, { cacheMode: 'bypass' });
          const [content = expect.fail('there is no content')] = contents;
          return JSON.parse('text' in content ? content.text : expect.fail('there is no text')) as object[];
        },
        call: (tool: string) => client.callTool({ name: tool }),
      };
    },
    /** Takes what the person was sent back with. */
    finish: (back: URL) => transport.finishAuth(back.searchParams),
  };
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

  async function start(authorizationServers = [server.issuer]) {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    log = captureLog();
    const settings = settingsFor(platform.url, {
      log: { level: 'info' },
      http: { port },
      publicUrl: url,
      verification: { issuer: server.issuer, authorizationServers },
      resources: { projects: { requiredScopes: ['read'] }, tools: { requiredScopes: ['read', 'admin'] } },
    });
    return startGateway(settings, { logger: log.logger });
  }

  beforeEach(async () => {
    server = await startAuthorizationServer();
    platform = await startHttpUpstream(LISTS);
  });

  const tokensOf = async (scope: string) => {
    const token = await server.issue({ resource: `${url}/mcp`, scope });
    return { access_token: token, scope, issuer: server.issuer };
  };

  for (const mode of ['legacy', 'auto'] as const) {
    describe(`through @modelcontextprotocol/client, ${mode}`, () => {
      it('is led by the first 401 to a token for this server, and reads', async () => {
        await start();
        const person = createPerson();
        const connecting = openFor(person, url, mode);
        await failure(connecting.connect());
        expect(person.sent).to.have.length(1);
        const asked = person.sent[0]?.searchParams;
        expect(asked?.get('resource')).to.equal(`${url}/mcp`);
        // offline_access is of the client's own: it wants a refresh token.
        expect(asked?.get('scope')?.replace(' offline_access', '')).to.equal('admin read');

        await connecting.finish(await server.signIn(person.sent[0] ?? ''));
        const session = await connecting.connect();
        expect(await session.read('tools')).to.have.length(1);
        expect(log.lines().map(({ route }) => route)).to.include(WELL_KNOWN);
        const token = tokenOf(platform.requests.at(-1) ?? expect.fail('nothing was asked'));
        expect(decodeJwt(token)).to.include({ aud: `${url}/mcp`, iss: server.issuer });
        expect(log.text()).to.not.contain(token);
      });

      it('is asked to sign in again when a platform rejects the token', async () => {
        await start();
        const tokens = await tokensOf('read admin');
        const person = createPerson(tokens);
        const connecting = openFor(person, url, mode);
        const session = await connecting.connect();
        platform.respond((request, response) =>
          (tokenOf(request) === tokens.access_token ? json({}, 401) : LISTS)(request, response),
        );
        for (const ask of [() => session.read('tools'), () => session.call('list_installed_tools')]) {
          await failure(ask());
        }
        expect(person.sent).to.have.length(2);
        await connecting.finish(await server.signIn(person.sent[1] ?? ''));
        expect(await session.read('tools')).to.have.length(1);
      });

      it('is asked for more scopes when a read needs them', async () => {
        await start();
        const person = createPerson(await tokensOf('read'));
        const connecting = openFor(person, url, mode);
        const session = await connecting.connect();
        expect(await session.read('projects')).to.have.length(1);
        expect(person.sent).to.have.length(0);
        for (const ask of [() => session.read('tools'), () => session.call('list_installed_tools')]) {
          await failure(ask());
          const scopes = person.sent.at(-1)?.searchParams.get('scope')?.split(' ');
          expect(scopes).to.include.members(['read', 'admin']);
        }
        await connecting.finish(await server.signIn(person.sent[1] ?? ''));
        expect(await session.read('tools')).to.have.length(1);
      });
    });
  }

  it('gets the missing scopes in the message when no authorization server is configured', async () => {
    await start([]);
    const person = createPerson();
    await failure(openFor(person, url, 'legacy').connect());
    expect(person.sent).to.have.length(0);
    const session = await openFor(createPerson(await tokensOf('read')), url, 'legacy').connect();
    expect((await failure(session.read('tools'))).message).to.contain('the scopes read admin');
    expect(await session.call('list_installed_tools')).to.include({ isError: true });
  });
});
