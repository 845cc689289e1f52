import type { CustomFetch, ServerMetadata } from 'openid-client';
import type { Send } from '../../core/credentials/authorize.ts';
import { isTrustedEndpoint } from '../../core/credentials/client-secret.ts';
import type { Caller } from '../../core/kernel/caller.ts';
import { createFlights, withDeadline } from '../../core/kernel/deadline.ts';
import type { ExchangeSettings } from './client-authentication.ts';
import { errorOfExchange, failedExchange } from './refusals.ts';

export type AuthorizationServer = ReturnType<typeof createAuthorizationServer>;

export interface AuthorizationServerOptions extends Pick<ExchangeSettings, 'issuer' | 'tokenUrl'> {
  readonly clientId: string;
  readonly timeoutMs: number;
  readonly send: Send;
}

/** Deadlines are set here. */
export const NO_TIMEOUT = 0;

/** RFC 8414 first, then OpenID Connect Discovery, which has another path. */
const ALGORITHMS = ['oauth2', 'oidc'] as const;

export function createAuthorizationServer(options: AuthorizationServerOptions) {
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
        // A document exists, though an unexpected one.
        if (seen.status === 200 || seen.status === 0) break;
      }
    }
    throw failure;
  }

  return {
    /** Returns its metadata, requested on first use. Rejects with a `GatewayError`. */
    async metadata(caller: Caller, signal: AbortSignal): Promise<ServerMetadata> {
      // The first reader may leave while others wait for the same result.
      const find = (shared: AbortSignal) => withDeadline(timeoutMs, shared, (ended) => discover(caller, ended));
      return known ?? flights.board('', signal, find);
    },
    /** Drops its metadata, because their token endpoint is gone. */
    forget(): void {
      if (tokenUrl === undefined) known = undefined;
    },
  };
}

/** Throws if a secret and a token would be sent to an untrusted endpoint (docs/decisions/0031). */
function checked(metadata: ServerMetadata): ServerMetadata {
  const { issuer, token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata;
  for (const each of [endpoint, aliases?.token_endpoint]) {
    if (each === undefined || isTrustedEndpoint(each, issuer)) continue;
    throw failedExchange('upstream_invalid', 'authorization server: its token endpoint is on another host without TLS');
  }
  return metadata;
}

/** Whether settings use plain HTTP, which is allowed on loopback only. */
export function isPlain({ protocol }: URL): boolean {
  return protocol === 'http:';
}

interface FetchOverOptions {
  readonly send: Send;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Receives the status of the response; 0 without one. */
  readonly seen: { status: number };
}

const PASSED_ON = ['accept', 'authorization', 'content-type'];

/** Fetch API for openid-client. */
export function fetchOver({ send, caller, signal, seen }: FetchOverOptions): CustomFetch {
  return async (url, { body, headers }) => {
    const passed = Object.entries(headers).filter(([name]) => PASSED_ON.includes(name));
    const request = { url: new URL(url), headers: Object.fromEntries(passed), body: body?.toString(), caller };
    const response = await send(request, signal);
    seen.status = response.status;
    return response;
  };
}
