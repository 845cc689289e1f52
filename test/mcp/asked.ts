import { createCatalogue } from '../../src/catalogue/catalogue.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import type { Facts } from '../../src/mcp/ask.ts';
import { createMcpEndpoint, type McpRequest } from '../../src/mcp/endpoint.ts';
import { RESOURCES } from '../../src/resources/index.ts';
import { define } from '../../src/resources/resource.ts';
import type { Load } from '../../src/snapshots/load.ts';
import type { Quote } from '../../src/snapshots/quotes.ts';
import { createSnapshotWriter } from '../../src/snapshots/snapshot-writer.ts';
import { callerWith } from '../support/caller.ts';

export const NOW = 1_700_000_000_000;

/** What stands in `_meta` of every request from 2026-07-28 on. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** One read that the catalogue was asked for. */
export interface Read {
  readonly name: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly noCache: boolean;
}

export type Reader = (read: Read) => Promise<Load> | Load;

/** The catalogue of the three resources, whose reads are a test's own; `fresh` is what is held of each. */
export function catalogueOf(read: Reader, fresh: () => Load | undefined = () => undefined) {
  return createCatalogue(
    RESOURCES.map((resource) => ({
      name: resource.name,
      definition: define(resource, 'platform'),
      source: {
        load: async (caller, signal, terms) =>
          read({ name: resource.name, caller, signal, noCache: terms?.noCache ?? false }),
        fresh,
      },
    })),
  );
}

export function loadOf(items: readonly object[], rest: Partial<Load> = {}): Load {
  const writer = createSnapshotWriter(NOW);
  writer.add(items);
  return { snapshot: writer.finish(), upstreamMs: 12, pages: 1, dropped: 0, ...rest };
}

/** What is held in the cache, and is fresh for so long yet. */
export function cachedFor(ms: number): Pick<Load, 'cached'> {
  return { cached: { key: 'key-of-the-test', freshUntil: NOW + ms, stored: false } };
}

/** A tool as an item of the tools resource. */
export function toolItem(id: string, rest: object = {}): object {
  return { id, name: id, version: '1.0.0', category: 'SCANNER', description: `About ${id}.`, ...rest };
}

export interface AskedOptions {
  readonly read?: Reader;
  /** What is held, and fresh, of any of the three. @default nothing */
  readonly fresh?: () => Load | undefined;
  /** What answers are made with that the SDK need not make. @default the SDK makes all */
  readonly quote?: Quote;
  readonly tools?: boolean;
  readonly maxResultBytes?: number;
}

/** An answer, and what was told of its request. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks into it knows itself.
  readonly json: any;
  readonly facts: Facts;
  readonly bugs: readonly unknown[];
}

/** An endpoint over such a catalogue, and ways to ask it. */
export function asked({
  read = () => loadOf([]),
  fresh,
  quote,
  tools = true,
  maxResultBytes = 65_536,
}: AskedOptions = {}) {
  const endpoint = createMcpEndpoint({
    catalogue: catalogueOf(read, fresh),
    quote,
    resources: RESOURCES,
    tools,
    maxResultBytes,
    version: '1.2.3',
    now: () => NOW,
  });

  /** Sends bytes as they are. */
  async function raw(body: string | Buffer, rest: Partial<McpRequest> = {}): Promise<Answered> {
    let facts: Facts = {};
    const bugs: unknown[] = [];
    const {
      status,
      headers,
      body: answer,
    } = await endpoint.answer({
      headers: {},
      body: Buffer.from(body),
      caller: callerWith(),
      signal: new AbortController().signal,
      noCache: false,
      note: (more) => {
        facts = { ...facts, ...more };
      },
      logBug: (error) => bugs.push(error),
      ...rest,
    });
    const text = (Buffer.isBuffer(answer) ? answer : Buffer.concat(answer)).toString();
    return {
      status,
      headers,
      text,
      get json() {
        return JSON.parse(text);
      },
      facts,
      bugs,
    };
  }

  return {
    raw,
    /** One request of the older era. */
    legacy: (method: string, params?: object, rest?: Partial<McpRequest>) =>
      raw(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), rest),
    /** One request of the newer era, with the headers that it has to have. */
    modern: (method: string, params: Record<string, unknown> = {}, headers: McpRequest['headers'] = {}) => {
      const name = params['uri'] ?? params['name'];
      return raw(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } }), {
        headers: {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(typeof name === 'string' && { 'mcp-name': name }),
          ...headers,
        },
      });
    },
  };
}
