import { randomUUID } from 'node:crypto';
import type { Send } from '../../core/credentials/authorize.ts';
import { isTrustedEndpoint } from '../../core/credentials/client-secret.ts';
import { Credential } from '../../core/kernel/caller.ts';
import { withDeadline } from '../../core/kernel/deadline.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { isObject, type Json, parseJson } from '../../core/kernel/json-shape.ts';
import { unavailable } from './outcome.ts';

export interface IssuerOptions {
  readonly issuer: string;
  readonly send: Send;
  readonly timeoutMs: number;
}

/** Returns a form to be sent with POST, within the timeout. */
type MakeForm = (signal: AbortSignal) => Promise<{ readonly authorization: string; readonly body: string }>;

/** The result is shared by all who send the token, so it is on behalf of no caller. */
const caller = () => ({ credential: new Credential(''), credentialKey: '', cacheScope: '', requestId: randomUUID() });

export type Issuer = ReturnType<typeof createIssuer>;

/** The trusted authorization server. Its failures are `verifier_unavailable`. */
export function createIssuer({ issuer, send, timeoutMs }: IssuerOptions) {
  let metadata: Promise<Json> | undefined;

  async function get(url: string, makeForm?: MakeForm): Promise<{ readonly status: number; readonly text: string }> {
    try {
      return await withDeadline(timeoutMs, new AbortController().signal, async (signal) => {
        const form = await makeForm?.(signal);
        const headers = {
          accept: 'application/json',
          ...(form && { authorization: form.authorization, 'content-type': 'application/x-www-form-urlencoded' }),
        };
        const response = await send({ url: new URL(url), headers, body: form?.body, caller: caller() }, signal);
        return { status: response.status, text: await response.text() };
      });
    } catch (cause) {
      throw unavailable(`the issuer ${describeFailure(cause)}`, cause);
    }
  }

  /** Returns the JSON object at a URL. Rejects for any other reply. */
  async function fetchJson(url: string, form?: MakeForm): Promise<Json> {
    const { status, text } = await get(url, form);
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
    /** Returns a URL of its metadata, which is requested once, and again after `forget`. */
    async endpoint(name: 'jwks_uri' | 'introspection_endpoint'): Promise<string> {
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
    /** Call it when an endpoint has changed. */
    forget(): void {
      metadata = undefined;
    },
  };
}

function describeFailure(cause: unknown): string {
  const { code, upstreamStatus } = cause instanceof GatewayError ? cause : {};
  if (upstreamStatus !== undefined) return `answered with status ${upstreamStatus}`;
  if (code === 'breaker_open') return 'failed repeatedly and is not called for a while';
  return code === 'upstream_timeout' ? 'did not answer in time' : 'could not be reached';
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
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw unavailable('the issuer answered with something else than a JSON object');
}
