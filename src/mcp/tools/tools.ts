import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Resource } from '../../resources/resource.ts';
import type { Ask } from '../ask.ts';
import { readTimed } from '../read-timed.ts';
import { argumentsShape, readArguments } from './arguments.ts';
import { describeTool } from './describe.ts';
import { createItemStore } from './item-store.ts';
import { pageOf } from './page.ts';
import { parseItems } from './parse-items.ts';

/** Snapshots whose items are kept parsed between the pages of a list. */
const MAX_PARSED_BYTES = 4_194_304;

export interface ToolsOptions {
  readonly catalogue: Pick<Catalogue, 'read'>;
  readonly resources: readonly Resource[];
  /** Largest result as text. */
  readonly maxResultBytes: number;
}

/** Returns one page of a resource. Throws `GatewayError`, also for arguments that are none. */
export type CallTool = (given: unknown, ask: Ask, signal: AbortSignal) => Promise<CallToolResult>;

/** The resources as tools. */
export interface Tools {
  readonly list: readonly Tool[];
  /** The tool of this name; throws `invalid_params` where there is none. */
  find(name: unknown): CallTool;
}

export function createTools({ catalogue, resources, maxResultBytes }: ToolsOptions): Tools {
  const storedItems = createItemStore(MAX_PARSED_BYTES);

  function toolOf(resource: Resource): { readonly tool: Tool; readonly call: CallTool } {
    const shape = argumentsShape(resource);
    return {
      tool: describeTool(resource, shape),
      async call(given, ask, signal) {
        const asked = readArguments(shape, given);
        const { snapshot, cached } = await readTimed(catalogue, resource.name, ask, signal);
        // What is not stored was read for this call alone.
        const items = await (cached === undefined ? parseItems : storedItems)(snapshot.bytes);
        const page = pageOf(items, snapshot.etag, asked, maxResultBytes);
        return { content: [{ type: 'text', text: JSON.stringify(page) }], structuredContent: { ...page } };
      },
    };
  }

  const tools = resources.map(toolOf);
  const calls = new Map(tools.map(({ tool, call }) => [tool.name, call]));
  return {
    list: tools.map(({ tool }) => tool),
    find(name) {
      const call = typeof name === 'string' ? calls.get(name) : undefined;
      if (call !== undefined) return call;
      const detail = `There is no such tool. There are: ${[...calls.keys()].join(', ')}.`;
      throw new GatewayError('invalid_params', { detail });
    },
  };
}
