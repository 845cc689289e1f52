import { isTrustedEndpoint } from '../../core/credentials/trusted-endpoint.ts';
import { startDeadline } from '../../core/kernel/deadline.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { BoundedFetch, FetchInit } from './bounded-fetch.ts';
import { unavailable } from './outcome.ts';

export interface IssuerOptions {
  /** As in tokens. */
  readonly issuer: string;
  readonly fetch: BoundedFetch['fetch'];
  /** Timeout of one request. */
  readonly timeoutMs: number;
}

export type Json = Readonly<Record<string, unknown>>;

/** Sends a request that is not a plain GET, within its timeout. */
export type MakeInit = (signal: AbortSignal) => Promise<FetchInit>;

/** The trusted authorization server. Its failures are `verifier_unavailable`. */
export interface Issuer {
  /** Returns the JSON object at a URL. Rejects for any other reply. */
  fetchJson(url: string, init?: MakeInit): Promise<Json>;
  /** Returns a URL of its metadata, which is requested once, and again after {@link Issuer.forget}. */
  endpoint(name: 'jwks_uri' | 'introspection_endpoint'): Promise<string>;
  /** Call it when an endpoint has changed. */
  forget(): void;
}

export function createIssuer({ issuer, fetch, timeoutMs }: IssuerOptions): Issuer {
  let metadata: Promise<Json> | undefined;

  async function get(url: string, init?: MakeInit): Promise<{ readonly status: number; readonly text: string }> {
    const deadline = startDeadline(timeoutMs, new AbortController().signal);
    const { signal } = deadline;
    const once = async () => {
      const response = await fetch(url, { ...(await init?.(signal)), signal });
      return { status: response.status, text: await response.text() };
    };
    try {
      // An idle connection may have been closed. These requests change nothing, so they can be retried.
      return await once().catch((error) => (wasLost(error) ? once() : Promise.reject(error)));
    } catch (cause) {
      throw unavailable(`the issuer ${signal.aborted ? 'did not answer in time' : describeFailure(cause)}`, cause);
    } finally {
      deadline.end();
    }
  }

  async function fetchJson(url: string, init?: MakeInit): Promise<Json> {
    const { status, text } = await get(url, init);
    if (status !== 200) throw unavailable(`the issuer answered with status ${status}`);
    return objectIn(text);
  }

  async function discover(): Promise<Json> {
    for (const url of metadataUrls(issuer)) {
      const { status, text } = await get(url);
      if (status >= 400 && status < 500) continue;
      if (status !== 200) throw unavailable(`the issuer answered with status ${status}`);
      const found = objectIn(text);
      // RFC 8414, section 3.3: otherwise the metadata belongs to another issuer.
      if (found['issuer'] !== issuer) throw unavailable('the metadata is of another issuer');
      return found;
    }
    throw unavailable('the issuer has no metadata');
  }

  return {
    fetchJson,
    async endpoint(name) {
      metadata ??= discover();
      const current = metadata;
      try {
        const url = (await current)[name];
        if (!isTrustedEndpoint(url, issuer)) throw unavailable(`the metadata has no usable ${name}`);
        return url;
      } catch (error) {
        if (metadata === current) metadata = undefined;
        throw error;
      }
    },
    forget() {
      metadata = undefined;
    },
  };
}

function describeFailure(cause: unknown): string {
  const isOpen = cause instanceof GatewayError && cause.code === 'breaker_open';
  return isOpen ? 'failed repeatedly and is not called for a while' : 'could not be reached';
}

function wasLost(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(Object(error).code);
}

/** Possible URLs of the metadata, in the order that MCP clients use (RFC 8414, section 3; OpenID Discovery). */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(urls)];
}

function objectIn(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw unavailable('the issuer answered with something else than a JSON object');
}
