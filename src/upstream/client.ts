import { Pool } from 'undici';
import { heeding, isDeadline } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';
import { discard, readText } from './body.ts';
import { createConnector } from './connector.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';
import { failure } from './failure.ts';
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
  /** `undefined` with a 304. */
  readonly text: string | undefined;
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

  async function exchange(request: PageRequest<unknown>, signal: AbortSignal): Promise<Answer> {
    const { target, caller, ifNoneMatch } = request;
    const response = await pool.request({
      method: 'GET',
      path: target,
      headers: {
        ...fixed,
        'x-request-id': caller.requestId,
        ...caller.trace,
        ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
        ...lowerCased(credential.headers(caller.credential)),
      },
      signal,
    });
    if (response.statusCode === 304 && ifNoneMatch !== undefined) {
      discard(response.body);
      return { text: undefined, headers: response.headers };
    }
    try {
      const refused = refusal(response.statusCode, response.headers, credential.callersOwn);
      if (refused !== undefined) throw refused;
      return { text: await readText(response, maxPageBytes), headers: response.headers };
    } catch (error) {
      discard(response.body);
      throw error;
    }
  }

  async function ask(request: PageRequest<unknown>, signal: AbortSignal): Promise<Answer> {
    // The upstream is to blame for a deadline only if it was asked before.
    const fault = !signal.aborted;
    try {
      // undici itself leaves a request that waits for a connection unsettled until there is one.
      return await heeding(signal, () => exchange(request, signal));
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
      const { text, headers } = await ask(request, signal);
      try {
        return { page: text === undefined ? undefined : request.read(text), headers };
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
