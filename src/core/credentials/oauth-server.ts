import type { ClientAuth, ClientMetadata, Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import type { Caller } from '../kernel/caller.ts';
import { withAbort, withDeadline } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { SendRequest } from './authorize.ts';

interface OAuthServerOptions {
  readonly issuer: string;
  /** @default from its metadata (RFC 8414, OpenID Connect Discovery) */
  readonly metadata?: ServerMetadata | undefined;
  readonly clientId: string;
  readonly timeoutMs: number;
  readonly send: SendRequest;
  /** Returns the error of metadata that cannot be used, or of a call. `status`: of the response, 0 without one. */
  readonly toError: (error: unknown, status: number, what: 'metadata' | 'call') => GatewayError;
}

/** A request of openid-client. */
interface OAuthRequest {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Receives the status of the response. */
  readonly seen: { status: number };
}

interface OAuthCall<T> extends Pick<OAuthRequest, 'caller' | 'signal'> {
  readonly authenticate: (signal: AbortSignal) => Promise<ClientAuth>;
  readonly client?: Partial<ClientMetadata> | undefined;
  readonly request: (configuration: Configuration) => Promise<T>;
}

export type OAuthServer = ReturnType<typeof createOAuthServer>;

/** In this order: they have different paths. */
const ALGORITHMS = ['oauth2', 'oidc'] as const;

/** An authorization server, called by openid-client over an HTTP client that has bounds. */
export function createOAuthServer(options: OAuthServerOptions) {
  const { issuer, clientId, timeoutMs, send, toError } = options;
  const isPlain = new URL(issuer).protocol === 'http:';
  let found: Promise<ServerMetadata> | undefined;

  async function discover(caller: Caller, signal: AbortSignal): Promise<ServerMetadata> {
    const { allowInsecureRequests, customFetch, discovery } = await import('openid-client');
    for (const algorithm of ALGORITHMS) {
      const seen = { status: 0 };
      try {
        const configuration = await discovery(new URL(issuer), clientId, undefined, undefined, {
          algorithm,
          [customFetch]: fetchOver(send, { caller, signal, seen }),
          execute: isPlain ? [allowInsecureRequests] : [],
        });
        return trusted(configuration.serverMetadata(), issuer);
      } catch (error) {
        const isElsewhere = seen.status >= 400 && seen.status < 500 && algorithm === 'oauth2';
        if (!isElsewhere) throw toError(error, seen.status, 'metadata');
      }
    }
    throw toError(undefined, 0, 'metadata');
  }

  async function metadataFor(caller: Caller, signal: AbortSignal): Promise<ServerMetadata> {
    if (options.metadata !== undefined) return options.metadata;
    // The first caller may leave while others wait.
    found ??= withDeadline(timeoutMs, new AbortController().signal, (ended) => discover(caller, ended));
    const current = found;
    current.catch(() => {
      if (found === current) found = undefined;
    });
    return withAbort(signal, () => current);
  }

  return {
    /** Returns its metadata, requested on first use. Rejects as `toError` does, or with the signal's reason. */
    metadata: metadataFor,
    /** Requests its metadata again on next use, because an endpoint has changed. */
    forget(): void {
      found = undefined;
    },
    /** Sends one request by openid-client. Rejects as `toError` does, or with the signal's reason. */
    async call<T>({ caller, signal, authenticate, client, request }: OAuthCall<T>): Promise<T> {
      const oauth = await import('openid-client');
      const metadata = await metadataFor(caller, signal);
      const configuration = new oauth.Configuration(metadata, clientId, client, await authenticate(signal));
      const seen = { status: 0 };
      configuration[oauth.customFetch] = fetchOver(send, { caller, signal, seen });
      if (isPlain) oauth.allowInsecureRequests(configuration);
      try {
        return await request(configuration);
      } catch (error) {
        if (mayHaveMoved(error, seen.status)) found = undefined;
        throw toError(error, seen.status, 'call');
      }
    },
  };
}

/** Whether a call failed as at an endpoint that is gone. Metadata after each failure would count as a success for the breaker. */
function mayHaveMoved(error: unknown, status: number): boolean {
  const ours = gatewayErrorIn(error);
  if (ours !== undefined) return ours.code === 'breaker_open';
  return status !== 401 && status !== 403 && oauthError(error) === undefined;
}

/** Returns the code of an OAuth error response (RFC 6749, section 5.2). */
export function oauthError(error: unknown): string | undefined {
  const hasCode = error instanceof Error && error.name === 'ResponseBodyError' && 'error' in error;
  return hasCode && typeof error.error === 'string' ? error.error : undefined;
}

const PASSED_ON = ['accept', 'authorization', 'content-type'];

/** Has the deadline of `signal` alone, not that of openid-client. */
function fetchOver(send: SendRequest, { caller, signal, seen }: OAuthRequest): CustomFetch {
  return async (url, { body, headers }) => {
    const passed = Object.entries(headers).filter(([name]) => PASSED_ON.includes(name));
    const request = { url: new URL(url), headers: Object.fromEntries(passed), body: body?.toString(), caller };
    const response = await send(request, signal);
    seen.status = response.status;
    return response;
  };
}

/** Throws if keys would come from, or secrets be sent to, an endpoint that is not trusted (docs/decisions/0029). */
function trusted(metadata: ServerMetadata, issuer: string): ServerMetadata {
  const { jwks_uri, token_endpoint, introspection_endpoint, mtls_endpoint_aliases: aliases } = metadata;
  for (const endpoint of [jwks_uri, token_endpoint, introspection_endpoint, aliases?.token_endpoint]) {
    if (endpoint === undefined || isTrusted(endpoint, issuer)) continue;
    throw Object.assign(new Error('an endpoint on another host without TLS'), { code: 'UNTRUSTED_ENDPOINT' });
  }
  return metadata;
}

/** By TLS on any host (RFC 8414, section 2), or on the issuer's host. */
function isTrusted(endpoint: unknown, issuer: string): boolean {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  const known = new URL(issuer);
  return protocol === 'https:' || (protocol === known.protocol && hostname === known.hostname);
}

/** Returns the code of an error of openid-client in parentheses, without any external text. */
export function oauthCodeIn(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[A-Z_]{1,64}$/.test(code) ? ` (${code})` : '';
}

/** Returns the error of `send` in an error of openid-client. */
export function gatewayErrorIn(error: unknown): GatewayError | undefined {
  let each = error;
  for (let depth = 0; depth < 5 && each instanceof Error; depth += 1) {
    if (each instanceof GatewayError) return each;
    each = each.cause;
  }
  return undefined;
}
