import { Pool } from 'undici';
import type { Caller } from '../kernel/caller.ts';
import { isDeadline } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';
import { checkBody, decodeBody } from './body.ts';
import { createConnector } from './connector.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';
import { failure } from './failure.ts';
import { receive } from './receive.ts';
import { refusal } from './refusal.ts';
import type { PageRequest, Presenter, ReplyHeaders, Upstream } from './upstream.ts';

export interface UpstreamOptions {
  /** As settings call it; stands in every error. */
  readonly name: string;
  /** Only its origin is used here: a target holds the path prefix already. */
  readonly baseUrl: string;
  /**
   * Sent with every request. They may replace `accept` and `user-agent`; what Portico itself has to say (the
   * credential, the request id, the trace, `accept-encoding`) wins over them. None may frame the message or route it.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** How long one connection may take to open, TLS included. */
  readonly connectTimeoutMs: number;
  /** Connections that may be open at once; further requests wait for one. */
  readonly connections: number;
  readonly allowH2: boolean;
  /** Largest body, before and after decompression. */
  readonly maxPageBytes: number;
  readonly credential: Presenter;
}

/** A page as it came. */
interface Answer {
  /** Decoded; `undefined` with a 304. */
  readonly bytes: Buffer | undefined;
  readonly headers: ReplyHeaders;
}

/** An upstream over HTTP. Follows no redirect, so that a credential goes to its configured origin only. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, credential, maxPageBytes } = options;
  const connector = createConnector({ timeoutMs: options.connectTimeoutMs, allowH2: options.allowH2 });
  const pool = new Pool(new URL(options.baseUrl).origin, {
    connections: options.connections,
    allowH2: options.allowH2,
    connect: connector.connect,
    // The read's deadline covers both, all pages together.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const fixed = {
    accept: 'application/json',
    'user-agent': 'portico',
    ...lowerCased(options.headers),
    'accept-encoding': ACCEPT_ENCODING,
  };

  function headersFor(caller: Caller, ifNoneMatch: string | undefined): Record<string, string> {
    const headers: Record<string, string> = { ...fixed, 'x-request-id': caller.requestId, ...caller.trace };
    if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch;
    for (const [header, value] of Object.entries(credential.headers(caller.credential))) {
      headers[header.toLowerCase()] = value;
    }
    return headers;
  }

  async function exchange(request: PageRequest<unknown>, signal: AbortSignal): Promise<Answer> {
    const { target, caller, ifNoneMatch } = request;
    const judge = (status: number, headers: ReplyHeaders): boolean => {
      if (status === 304 && ifNoneMatch !== undefined) return false;
      const refused = refusal(status, headers, credential.callersOwn);
      if (refused !== undefined) throw refused;
      checkBody(headers, maxPageBytes);
      return true;
    };
    const sent = { path: target, headers: headersFor(caller, ifNoneMatch) };
    const { headers, body } = await receive(pool, sent, { judge, maxBytes: maxPageBytes }, signal);
    return { bytes: body && (await decodeBody(headers, body, maxPageBytes)), headers };
  }

  async function ask(request: PageRequest<unknown>, signal: AbortSignal): Promise<Answer> {
    // The upstream is to blame for a deadline only if it was asked before.
    const fault = !signal.aborted;
    try {
      return await exchange(request, signal);
    } catch (error) {
      if (!signal.aborted) throw named(failure(error));
      throw isDeadline(signal.reason) ? named(new GatewayError('upstream_timeout', { fault })) : signal.reason;
    }
  }

  function named(error: unknown): unknown {
    return error instanceof GatewayError ? error.from(name) : error;
  }

  return {
    name,
    async get(request, signal) {
      const { bytes, headers } = await ask(request, signal);
      try {
        return { page: bytes && request.read(bytes), headers };
      } catch (error) {
        throw named(error);
      }
    },
    async close() {
      const ended = pool.destroy(new GatewayError('draining', { reason: 'the upstream client is closed' }));
      connector.close();
      await ended;
    },
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]));
}
