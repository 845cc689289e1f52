import { PassThrough, type Readable, type Writable } from 'node:stream';
import { createCore } from '../../../../src/core/core.ts';
import { openStdio } from '../../../../src/core/mcp/stdio/open-stdio.ts';
import { createRepresentations } from '../../../../src/core/reads/representations/representations.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { startGateway } from '../../../support/gateway.ts';
import { configOf, type TestSettings } from '../../../support/limits.ts';
import { runStdio, writeSettings } from '../../../support/process/process.ts';
import { newFolder } from '../../../support/process/serving.ts';
import { ENVELOPE } from '../asked.ts';
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

function request(target: Target, modern: boolean, id = 1) {
  const isCall = typeof target === 'object';
  const params = { ...(isCall ? target : { uri: target }), ...(modern && { _meta: ENVELOPE }) };
  return { jsonrpc: '2.0', id, method: isCall ? 'tools/call' : 'resources/read', params };
}

function post(version: string): Way {
  return overHttp(async (url, target, headers) => {
    const modern = version === '2026-07-28';
    const message = request(target, modern);
    headers.set('content-type', 'application/json');
    headers.set('mcp-protocol-version', version);
    if (modern) headers.set('mcp-method', message.method);
    if (modern) headers.set('mcp-name', typeof target === 'object' ? target.name : (target ?? ''));
    const body = JSON.stringify(version === '2025-03-26' ? [message] : message);
    return rpcOutcome(await fetch(`${url}/mcp`, { method: 'POST', headers, body }));
  });
}

/** One JSON-RPC message after the other over a pair of streams. */
function overStreams(input: Writable, output: Readable, modern: boolean): Opened['read'] {
  const waiting = new Map<number, (outcome: Outcome) => void>();
  let text = '';
  let id = 0;
  output.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message.result?.serverInfo ? {} : messageOutcome(message, null));
    }
  });
  const ask = (message: { readonly id: number }) =>
    new Promise<Outcome>((resolve) => {
      waiting.set(message.id, resolve);
      input.write(`${JSON.stringify(message)}\n`);
    });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  let opened = modern ? undefined : ask({ id, ...{ jsonrpc: '2.0', method: 'initialize', params } });
  return async (target) => {
    await opened;
    opened = undefined;
    id += 1;
    return ask(request(target, modern, id));
  };
}

function stdio(modern: boolean): Way {
  return async (settings, now) => {
    const config = configOf(settings);
    const core = createCore(config, { events: {}, now });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { requestId: _, ...identity } = callerWith();
    const connection = openStdio({
      ...config.mcp,
      catalogue: core.catalogue,
      representations: createRepresentations(core.holdings.cache),
      version: '1.2.3',
      now,
      events: {},
      identity,
      graceMs: 1,
      input,
      output,
    });
    return {
      read: overStreams(input, output, modern),
      async close() {
        connection.drain();
        await connection.closed;
        await core.close();
      },
    };
  };
}

/** A process of its own, which has its own clock. */
export const stdioProcess: Way = async (settings) => {
  const file = await writeSettings(await newFolder(), JSON.stringify(settings));
  const { child, ended } = runStdio(file, { PORTICO_TOKEN: 'token-of-the-test' });
  return {
    read: overStreams(child.stdin, child.stdout, false),
    close() {
      child.stdin.end();
      return ended;
    },
  };
};

const MCP_WAYS: Readonly<Record<string, Way>> = {
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
  ...MCP_WAYS,
};

/** Every way to call a tool. */
export const TOOL_WAYS: Readonly<Record<string, Way>> = { ...MCP_WAYS, 'a batch, 2025-03-26': post('2025-03-26') };
