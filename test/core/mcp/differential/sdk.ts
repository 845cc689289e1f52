import {
  createMcpHandler,
  fromJsonSchema,
  InMemoryTransport,
  type JSONRPCMessage,
  type McpHttpHandler,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { asked, loadOf, provenanceOf } from '../asked.ts';
import type { Exchange, Told } from './exchange.ts';

const INVALID_PARAMS = -32602;
const URL_OF_NOBODY = 'http://portico.invalid/mcp';
const LIST = { ttlMs: 3_600_000, cacheScope: 'private' as const };

// biome-ignore lint/suspicious/noExplicitAny: lists that are passed on as they are.
type Json = any;

/** What both servers offer: the lists as ours has them, and the items of every resource. */
export interface Offer {
  readonly items: readonly Readonly<Record<string, string>>[];
  /** How long each read is fresh yet. */
  readonly ttlMs: number;
}

/** The SDK's own server, set up with the same resources and tools. Schemas, errors and encodings are the SDK's. */
async function serverFactory({ items, ttlMs }: Offer): Promise<() => Server> {
  const ours = asked();
  const { result: initialized } = (
    await ours.earlier('initialize', { protocolVersion: '', capabilities: {}, clientInfo: { name: '', version: '' } })
  ).json;
  const { resources }: Json = (await ours.earlier('resources/list')).json.result;
  const { tools }: Json = (await ours.earlier('tools/list')).json.result;
  const schemas = new Map<string, ReturnType<typeof fromJsonSchema>>(
    tools.map((tool: Json) => [tool.name, fromJsonSchema(tool.inputSchema)]),
  );
  const fieldsOf = new Map<string, string[]>(
    tools.map(({ name, outputSchema }: Json) => [name, Object.keys(outputSchema.properties.items.items.properties)]),
  );
  const { serverInfo, capabilities, instructions } = initialized;
  const _meta = provenanceOf(loadOf(items));

  /** Everything fits one page. */
  function onePage<T>(members: T, params: { readonly cursor?: string | undefined } | undefined): T {
    if (params?.cursor !== undefined) throw new ProtocolError(INVALID_PARAMS, 'no such cursor');
    return members;
  }

  async function call(tool: string, sent: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    const schema = schemas.get(tool);
    if (schema === undefined) throw new ProtocolError(INVALID_PARAMS, 'no such tool');
    const given = argumentsIn(sent);
    const checked = await schema['~standard'].validate(given);
    // Only checked values are texts and numbers: others may have a `toString` that is no function.
    if (checked.issues !== undefined) return { content: [], isError: true };
    const { query = '', limit = 50, cursor }: Json = given;
    const fields = given['fields'] === undefined ? [] : String(given['fields']).split(',');
    // Every documented field filters, also those that the schema does not name.
    const texts = fieldsOf.get(tool)?.filter((field) => Object.hasOwn(given, field)) ?? [];
    const areTexts = texts.every((field) => typeof given[field] === 'string' && String(given[field]).length <= 256);
    // The schemas have no bounds.
    const areFields = fields.every((field) => fieldsOf.get(tool)?.includes(field));
    const isBeyond = limit > 500 || query.length > 256 || !areTexts || !areFields;
    return { content: [], isError: cursor !== undefined || isBeyond };
  }

  return () => {
    const server = new Server(serverInfo, {
      capabilities,
      instructions,
      cacheHints: {
        ...{ 'resources/list': LIST, 'resources/templates/list': LIST, 'tools/list': LIST },
        'resources/read': { ttlMs, cacheScope: 'private' },
      },
    });
    server.setRequestHandler('ping', () => ({}));
    server.setRequestHandler('resources/list', ({ params }) => onePage({ resources }, params));
    server.setRequestHandler('resources/templates/list', ({ params }) => onePage({ resourceTemplates: [] }, params));
    server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      if (!resources.some((resource: Json) => resource.uri === uri)) throw new ProtocolError(INVALID_PARAMS, 'unknown');
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(items) }], _meta };
    });
    server.setRequestHandler('tools/list', ({ params }) => onePage({ tools }, params));
    server.setRequestHandler('tools/call', ({ params }) => call(params.name, params.arguments));
    return server;
  };
}

/** Empty arguments are left out, and a limit can be text. */
function argumentsIn(sent: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isEmpty = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0);
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => !isEmpty(value)));
  const { limit } = given;
  return typeof limit === 'string' && /^\d{1,9}$/.test(limit) ? { ...given, limit: Number(limit) } : given;
}

/** Over HTTP: a list of messages, whether the SDK sent one as JSON or several as a stream of events. */
export async function sdkOverHttp(offer: Offer): Promise<(exchange: Exchange) => Promise<Told>> {
  const handler: McpHttpHandler = createMcpHandler(await serverFactory(offer));
  return async ({ body, headers: { protocolVersion, method, name } }) => {
    const headers = new Headers({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }),
      ...(method !== undefined && { 'mcp-method': method }),
      ...(name !== undefined && { 'mcp-name': name }),
    });
    const response = await handler.fetch(new Request(URL_OF_NOBODY, { method: 'POST', headers, body }));
    return { status: response.status, messages: messagesIn(await response.text()) };
  };
}

/** What a body holds: nothing, JSON, or events with JSON in them. */
export function messagesIn(text: string): Json[] {
  if (text === '') return [];
  if (!text.startsWith('event:')) return [JSON.parse(text)].flat();
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

/** Over stdio: what comes back for messages that are sent one after the other. */
export async function sdkOverStdio(offer: Offer): Promise<(messages: readonly object[]) => Promise<Json[]>> {
  const factory = await serverFactory(offer);
  return async (messages) => {
    const [client, transport] = InMemoryTransport.createLinkedPair();
    const received: JSONRPCMessage[] = [];
    client.onmessage = (message) => received.push(message);
    await client.start();
    const connection = serveStdio(factory, { transport });
    for (const message of messages) {
      await client.send(message as JSONRPCMessage);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await connection.close();
    // In memory, results carry what is not sent.
    return JSON.parse(JSON.stringify(received));
  };
}
