import { createCore } from '../../../../src/core/core.ts';
import { createRepresentations } from '../../../../src/core/reads/representations/representations.ts';
import { startGateway } from '../../../support/gateway.ts';
import { configOf, type TestSettings } from '../../../support/limits.ts';
import { rpc } from '../../../support/rpc.ts';
import { CLIENT, ENVELOPE } from '../asked.ts';
import { connectStdio, type converse } from '../connected.ts';
import { httpOutcome, messageOutcome, type Outcome, rpcOutcome } from './outcome.ts';

export interface Reading {
  readonly noCache?: boolean | undefined;
  /** Sends no credential. */
  readonly anonymous?: boolean | undefined;
}

/** What is read: a URI, or the arguments of a tool. */
export type Target = string | undefined | { readonly name: string; readonly arguments: object };

/** A gateway of its own that is read in one way. */
export interface Opened {
  read(target: Target, reading?: Reading): Promise<Outcome>;
  close(): Promise<unknown>;
}

export type Way = (settings: TestSettings, now: () => number) => Promise<Opened>;

function overHttp(send: (url: string, target: Target, headers: Headers) => Promise<Outcome>): Way {
  return async (settings, now) => {
    const { gateway, url } = await startGateway(settings, { now });
    return {
      read(target, { noCache = false, anonymous = false } = {}) {
        const headers = new Headers({ 'accept-encoding': 'identity' });
        if (noCache) headers.set('cache-control', 'no-cache');
        if (!anonymous) headers.set('authorization', 'Bearer token-of-the-test');
        return send(url, target, headers);
      },
      close: () => gateway.close(),
    };
  };
}

function requestFor(target: Target, modern: boolean) {
  const isCall = typeof target === 'object';
  const params = { ...(isCall ? target : { uri: target }), ...(modern && { _meta: ENVELOPE }) };
  return rpc(isCall ? 'tools/call' : 'resources/read', params);
}

function post(version: string): Way {
  return overHttp(async (url, target, headers) => {
    const modern = version === '2026-07-28';
    const message = requestFor(target, modern);
    headers.set('content-type', 'application/json');
    headers.set('mcp-protocol-version', version);
    if (modern) headers.set('mcp-method', message.method);
    if (modern) headers.set('mcp-name', typeof target === 'object' ? target.name : (target ?? ''));
    return rpcOutcome(await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) }));
  });
}

/** One JSON-RPC message after the other. */
function overStreams({ ask }: Pick<ReturnType<typeof converse>, 'ask'>, modern: boolean): Opened['read'] {
  let opened = modern ? undefined : ask('initialize', { ...CLIENT, protocolVersion: '2025-11-25' });
  return async (target) => {
    await opened;
    opened = undefined;
    const { method, params } = requestFor(target, modern);
    return messageOutcome(await ask(method, params), null);
  };
}

function stdio(modern: boolean): Way {
  return async (settings, now) => {
    const config = configOf(settings);
    const core = createCore(config, { events: {}, now });
    const { catalogue, reloadState } = core;
    const offer = { ...config.mcp, catalogue, representations: createRepresentations(reloadState.cache), now };
    const connected = connectStdio(offer, { maxBodyBytes: config.mcp.maxBodyBytes, graceMs: 1 });
    return {
      read: overStreams(connected, modern),
      async close() {
        connected.connection.drain();
        await connected.connection.closed;
        await core.close();
      },
    };
  };
}

/** Every way to call a tool. */
export const TOOL_WAYS: Readonly<Record<string, Way>> = {
  'POST /mcp, 2026-07-28': post('2026-07-28'),
  'POST /mcp, 2025-11-25': post('2025-11-25'),
  'stdio, 2026-07-28': stdio(true),
  'stdio, 2025-11-25': stdio(false),
};

/** Every way to read a resource. */
export const WAYS: Readonly<Record<string, Way>> = {
  'HTTP read': overHttp(async (url, target, headers) => {
    const query = typeof target === 'string' ? `?uri=${encodeURIComponent(target)}` : '';
    return httpOutcome(await fetch(`${url}/mcp/v1/resources/read${query}`, { headers }));
  }),
  ...TOOL_WAYS,
};
