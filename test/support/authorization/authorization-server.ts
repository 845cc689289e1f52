import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { onCleanup } from '../cleanup.ts';
import { listen } from '../listening.ts';
import { agree, CLIENT, createProvider, type Format, resourceServer, SCOPES, SECONDS } from './provider.ts';

export { CLIENT };

const SUBJECT = 'ada';

interface Issued {
  /** RFC 8707: who it is for, its `aud`. */
  readonly resource: string;
  /** @default SUBJECT */
  readonly subject?: string;
  /** With a blank between two. @default every scope */
  readonly scope?: string;
  /** @default 'jwt' */
  readonly format?: Format;
  /** How long it holds, 1 at least. @default as the server's */
  readonly seconds?: number;
  /** Claims beside these: a tenant. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

/**
 * A real authorization server (oidc-provider) on a port of loopback. `refuse()` takes it down, `accept()` brings it back
 * on the same port. It ends with its test, which fails where the server itself had a bug.
 *
 * Its tokens are for whatever `resource` is asked for. Clients register themselves, or are {@link CLIENT}: authorization code with
 * PKCE, RFC 8693 (a JWT of this server as `subject_token`, `audience` or `resource`, `scope`), introspection and revocation. Whoever comes to sign in is {@link SUBJECT}, and agrees to all
 * that is asked.
 */
export async function startAuthorizationServer() {
  const requests: IncomingMessage[] = [];
  const instead = new Map<string | undefined, RequestListener>();
  const server = createServer((request, response) => {
    requests.push(request);
    const path = request.url?.split('?')[0];
    (instead.get(path) ?? instead.get(undefined) ?? respondItself)(request, response);
  });
  const listening = await listen(server);
  const issuer = listening.url;

  const bugs: Error[] = [];
  onCleanup(() => {
    if (bugs.length > 0) throw new AggregateError(bugs, 'the authorization server had a bug');
  });

  const extraClaims = new WeakMap<object, Readonly<Record<string, unknown>>>();
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const provider = createProvider({
    ...{ issuer, key: { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'key' } },
    claimsOf: (token) => extraClaims.get(token),
    onBug: (error) => bugs.push(error),
  });
  const callback = provider.callback();

  const respondItself: RequestListener = (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return void callback(request, response);
    agree(provider, SUBJECT, request, response).catch((error: Error) => {
      bugs.push(error);
      response.destroy();
    });
  };

  async function issue(issued: Issued): Promise<string> {
    const { resource, subject = SUBJECT, scope = SCOPES.join(' '), claims } = issued;
    const client = await provider.Client.find(CLIENT.id);
    if (client === undefined) throw new Error('there is no client');
    const token = new provider.AccessToken({
      ...{ accountId: subject, client, grantId: '', gty: 'of the test', scope },
      resourceServer: new provider.ResourceServer(resource, resourceServer(issued.format ?? 'jwt')),
      expiresIn: issued.seconds ?? SECONDS,
    });
    if (claims !== undefined) extraClaims.set(token, claims);
    return token.save();
  }

  return {
    ...listening,
    /** `http://127.0.0.1:<port>`, without a slash. */
    issuer,
    revocationEndpoint: provider.urlFor('revocation'),
    /** Every request so far, oldest first. */
    requests: requests as readonly IncomingMessage[],
    /**
     * Has this respond from now on, to requests for this path alone where one is named: `() => {}` hangs. `undefined`: the
     * server itself again.
     */
    respond(handler: RequestListener | undefined, path?: string) {
      if (handler === undefined) instead.delete(path);
      else instead.set(path, handler);
    },
    /** A token as clients obtain it, without asking for it. */
    issue,
    signIn,
  };

  /**
   * What a browser does with an authorization request: follows redirects, with the cookies that come on the way, until one leads
   * elsewhere, and gives that address, with the code.
   */
  async function signIn(authorizationUrl: string | URL): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = new URL(authorizationUrl);
    for (let hops = 0; url.origin === issuer; hops += 1) {
      if (hops === 10) throw new Error('the authorization server redirects without end');
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
      const location = response.headers.get('location');
      if (location === null) throw new Error(`no way on from ${url.pathname}: ${await response.text()}`);
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      url = new URL(location, url);
    }
    return url;
  }
}
