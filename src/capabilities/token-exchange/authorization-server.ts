import type { CustomFetch, ServerMetadata } from 'openid-client';
import { isTrustedEndpoint } from '../../core/credentials/trusted-endpoint.ts';
import type { Caller } from '../../core/kernel/caller.ts';
import { withDeadline } from '../../core/kernel/deadline.ts';
import { createFlights } from '../../core/kernel/flights.ts';
import { errorOfExchange, failedExchange } from './refusals.ts';

/**
 * Sends one request to an authorization server. Rejects with a `GatewayError` where no response comes, or one that is no
 * refusal and no success.
 */
export type Send = (
  request: {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | undefined;
    readonly caller: Caller;
  },
  signal: AbortSignal,
) => Promise<Response>;

/** Where tokens are exchanged: one of the two at least. */
export interface ServerSettings {
  /** Whose metadata name the token endpoint (RFC 8414). */
  readonly issuer?: string | undefined;
  /** The token endpoint; metadata are then not looked for. */
  readonly tokenUrl?: string | undefined;
}

/** What is known of an authorization server. */
export interface AuthorizationServer {
  /** Its metadata, found when they are first wanted. Rejects with a `GatewayError`. */
  metadata(caller: Caller, signal: AbortSignal): Promise<ServerMetadata>;
  /** Has its metadata looked for anew: what they name is no token endpoint any more. */
  forget(): void;
}

export interface AuthorizationServerOptions extends ServerSettings {
  readonly clientId: string;
  readonly timeoutMs: number;
  readonly send: Send;
}

/** Deadlines are ours. */
export const NO_TIMEOUT = 0;

/** RFC 8414 first, then OpenID Connect Discovery, which has another path. */
const ALGORITHMS = ['oauth2', 'oidc'] as const;

export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { issuer, tokenUrl, clientId, timeoutMs, send } = options;
  const flights = createFlights<ServerMetadata>();
  let known: ServerMetadata | undefined =
    tokenUrl === undefined ? undefined : { issuer: issuer ?? tokenUrl, token_endpoint: tokenUrl };

  async function discover(caller: Caller, signal: AbortSignal): Promise<ServerMetadata> {
    const oauth = await import('openid-client');
    const url = new URL(issuer ?? '');
    let failure: unknown;
    for (const algorithm of ALGORITHMS) {
      const seen = { status: 0 };
      const fetch = fetchOver({ send, caller, signal, seen });
      try {
        const found = await oauth.discovery(url, clientId, undefined, undefined, {
          algorithm,
          [oauth.customFetch]: fetch,
          execute: isPlain(url) ? [oauth.allowInsecureRequests] : [],
          timeout: NO_TIMEOUT,
        });
        known = checked(found.serverMetadata());
        return known;
      } catch (error) {
        failure = errorOfExchange(error, { what: 'metadata', status: seen.status });
        // There is something, if not what it should be.
        if (seen.status === 200 || seen.status === 0) break;
      }
    }
    throw failure;
  }

  return {
    async metadata(caller, signal) {
      // Whoever asked first may leave: the others wait for the same.
      const find = (shared: AbortSignal) => withDeadline(timeoutMs, shared, (ended) => discover(caller, ended));
      return known ?? flights.board('', signal, find);
    },
    forget() {
      if (tokenUrl === undefined) known = undefined;
    },
  };
}

/** Throws where a secret and a token would be sent to an endpoint that cannot be trusted (docs/decisions/0031). */
function checked(metadata: ServerMetadata): ServerMetadata {
  const { issuer, token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata;
  for (const each of [endpoint, aliases?.token_endpoint]) {
    if (each === undefined || isTrustedEndpoint(each, issuer)) continue;
    throw failedExchange('upstream_invalid', 'authorization server: its token endpoint is on another host without TLS');
  }
  return metadata;
}

/** Whether settings have it without TLS, which they may on loopback alone. */
export function isPlain({ protocol }: URL): boolean {
  return protocol === 'http:';
}

export interface FetchOverOptions {
  readonly send: Send;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Takes the status of the response; 0 where none came. */
  readonly seen: { status: number };
}

const PASSED_ON = ['accept', 'authorization', 'content-type'];

/** The Fetch API as openid-client wants it. */
export function fetchOver({ send, caller, signal, seen }: FetchOverOptions): CustomFetch {
  return async (url, { body, headers }) => {
    const passed = Object.entries(headers).filter(([name]) => PASSED_ON.includes(name));
    const request = { url: new URL(url), headers: Object.fromEntries(passed), body: bodyText(body), caller };
    const response = await send(request, signal);
    seen.status = response.status;
    return response;
  };
}

function bodyText(body: unknown): string | undefined {
  return body instanceof URLSearchParams ? body.toString() : undefined;
}
