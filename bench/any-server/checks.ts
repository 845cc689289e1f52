import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  type Answer,
  type Connection,
  connectInitialized,
  connectStateless,
  parse,
  STATELESS,
  type Target,
} from './connection.ts';

/** One kind of check: how often it was done, and what failed first. */
export interface Check {
  readonly name: string;
  done: number;
  failed: number;
  first?: string;
}

/** A read that a server offers: a resource, or a tool that is marked as read-only and needs no arguments. */
export interface ReadCall {
  readonly name: string;
  readonly method: 'resources/read' | 'tools/call';
  readonly params: object;
  /** What a model is sent of the answer. */
  readonly text: string;
}

/** What a server was found to be. */
export interface Findings {
  readonly revisions: readonly string[];
  readonly checks: readonly Check[];
  /** Tools of the newest revision, as JSON. */
  readonly definitions: string;
  readonly tools: number;
  readonly resources: number;
  readonly calls: readonly ReadCall[];
  readonly connection: Connection | undefined;
  /** Ends the sessions. */
  close(): Promise<void>;
}

/** No more tools and resources than these are called. */
const MAX_CALLS = 10;
const MAX_PAGES = 1000;

type Members = Readonly<Record<string, unknown>>;

/** Checks what must hold for every MCP server: in each revision that it supports, and without writing anything. */
export async function checkServer(target: Target): Promise<Findings> {
  const checks = new Map<string, Check>();
  const check: Recorder = (name, problem) => {
    const one = checks.get(name) ?? { name, done: 0, failed: 0 };
    checks.set(name, one);
    one.done += 1;
    if (problem === undefined) return;
    one.failed += 1;
    one.first ??= target.token === undefined ? problem : problem.replaceAll(target.token, '[token]');
  };
  const connections = await connectAll(target, check);
  let found: Omit<Findings, 'revisions' | 'checks' | 'close'> | undefined;
  for (const connection of connections) {
    const server = createRequests(connection, target, check);
    const seen = await checkRevision(server, check);
    await checkErrors(server, connection, target, check);
    found ??= { ...seen, connection };
  }
  const none = { definitions: '[]', tools: 0, resources: 0, calls: [], connection: undefined };
  const revisions = connections.map(({ revision }) => revision);
  const close = async () => {
    for (const connection of connections) await connection.close();
  };
  return { ...(found ?? none), revisions, checks: [...checks.values()], close };
}

type Recorder = (name: string, problem: string | undefined) => void;

/** The newest one first. */
async function connectAll(target: Target, check: Recorder): Promise<Connection[]> {
  const stateless = connectStateless(target);
  const discovered = await stateless.request('discover', 'server/discover');
  const versions = Object(Object(discovered.message).result).supportedVersions;
  const isStateless = Array.isArray(versions) && versions.includes(STATELESS);
  // Servers of earlier revisions may answer an error of any kind.
  if (isStateless) checkEnvelope(discovered, 'discover', target, check);
  const { answer, connection } = await connectInitialized(target);
  if (connection !== undefined) checkEnvelope(answer, 'initialize', target, check);
  const connections = [...(isStateless ? [stateless] : []), ...(connection ? [connection] : [])];
  const problem = `server/discover and initialize have no result: ${answer.status} ${answer.text.slice(0, 200)}`;
  check('a revision is supported', connections.length > 0 ? undefined : problem);
  return connections;
}

/** Sends a request, and checks the envelope of its answer. Returns the result; `undefined` for an error. */
type Requests = (
  method: string,
  params?: object,
) => Promise<{ result: Members | undefined; error: Members | undefined }>;

function createRequests(connection: Connection, target: Target, check: Recorder): Requests {
  let count = 0;
  return async (method, params) => {
    count += 1;
    // Both kinds of ids that JSON-RPC has.
    const id = count % 2 === 0 ? `id-${count}` : count;
    const answer = await connection.request(id, method, params);
    checkEnvelope(answer, id, target, check);
    return Object(answer.message);
  };
}

function checkEnvelope(
  { message, text, status }: Answer,
  id: string | number,
  { token }: Target,
  check: Recorder,
): void {
  const { jsonrpc, id: echoed, result, error } = Object(message);
  const shown = `${status} ${text.slice(0, 200)}`;
  check('answers are JSON-RPC 2.0', jsonrpc === '2.0' ? undefined : shown);
  check('ids are echoed', echoed === id ? undefined : `${JSON.stringify(echoed)} for ${JSON.stringify(id)}`);
  const isOne = (result === undefined) !== (error === undefined);
  check('answers have either a result or an error', isOne ? undefined : shown);
  if (error !== undefined) checkError(error, check);
  if (token !== undefined)
    check('answers do not repeat the token', text.includes(token) ? 'an answer has the token' : undefined);
}

function checkError(error: unknown, check: Recorder): void {
  const { code, message } = Object(error);
  const isSound = Number.isInteger(code) && typeof message === 'string' && message !== '';
  check('errors have a code and a message', isSound ? undefined : JSON.stringify(error).slice(0, 200));
}

async function checkRevision(
  request: Requests,
  check: Recorder,
): Promise<Omit<Findings, 'revisions' | 'checks' | 'connection' | 'close'>> {
  const tools = await listAll(request, 'tools/list', 'tools', 'name', check);
  const resources = await listAll(request, 'resources/list', 'resources', 'uri', check);
  const calls: ReadCall[] = [];
  for (const tool of tools) checkSchemas(tool, check);
  for (const { uri } of resources.slice(0, MAX_CALLS)) {
    const text = await readResource(request, String(uri), check);
    calls.push({ name: `resources/read ${uri}`, method: 'resources/read', params: { uri }, text });
  }
  for (const tool of tools.filter(isPlainRead).slice(0, MAX_CALLS)) {
    const text = await callTool(request, tool, check);
    const params = { name: tool['name'], arguments: {} };
    calls.push({ name: `tools/call ${tool['name']}`, method: 'tools/call', params, text });
  }
  return { definitions: JSON.stringify(tools), tools: tools.length, resources: resources.length, calls };
}

/** Reads a list to its end. A server without the method has none. */
async function listAll(
  request: Requests,
  method: string,
  member: string,
  key: string,
  check: Recorder,
): Promise<Members[]> {
  const items: Members[] = [];
  const cursors = new Set<unknown>();
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { result, error } = await request(method, cursor === undefined ? {} : { cursor });
    if (page === 0 && error?.['code'] === -32601) return [];
    const listed = result?.[member];
    const isList = Array.isArray(listed) && listed.every((item) => typeof Object(item)[key] === 'string');
    check(
      'lists are arrays of named items',
      isList ? undefined : `${method}: ${JSON.stringify(result ?? error).slice(0, 200)}`,
    );
    if (!isList) break;
    items.push(...listed);
    cursor = result?.['nextCursor'];
    if (cursor === undefined || cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  check(
    'pagination ends',
    cursor === undefined
      ? undefined
      : `${method}: the cursor ${JSON.stringify(cursor)} was sent before, or ${MAX_PAGES} pages were read`,
  );
  const keys = items.map((item) => item[key]);
  const twice = keys.find((name, index) => keys.indexOf(name) !== index);
  check(
    'lists repeat nothing',
    twice === undefined ? undefined : `${method}: ${JSON.stringify(twice)} is listed twice`,
  );
  return items;
}

function checkSchemas({ name, inputSchema, outputSchema }: Members, check: Recorder): void {
  for (const schema of [inputSchema, ...(outputSchema === undefined ? [] : [outputSchema])]) {
    const problem = Object(schema).type === 'object' ? compile(schema).problem : 'its type is not object';
    check('schemas of tools are valid', problem && `${name}: ${problem}`);
  }
}

/** A validator of JSON Schema 2020-12, or why the schema is not one. */
function compile(schema: unknown): { isValid?: (value: unknown) => boolean; problem?: string } {
  try {
    return { isValid: new Ajv2020({ strict: false, validateFormats: false }).compile(Object(schema)) };
  } catch (error) {
    return { problem: String(error).slice(0, 200) };
  }
}

/** Whether it is certain that calling a tool without arguments changes nothing. */
function isPlainRead({ annotations, inputSchema }: Members): boolean {
  const { required = [] } = Object(inputSchema);
  return Object(annotations).readOnlyHint === true && required.length === 0;
}

async function readResource(request: Requests, uri: string, check: Recorder): Promise<string> {
  const { result } = await request('resources/read', { uri });
  const contents = result?.['contents'];
  const list: Members[] = Array.isArray(contents) ? contents : [];
  const isSound = list.length > 0 && list.every(({ text, blob }) => typeof (text ?? blob) === 'string');
  check('resources have text or a blob', isSound ? undefined : `${uri}: ${JSON.stringify(result).slice(0, 200)}`);
  for (const { mimeType, text } of list) {
    if (mimeType !== 'application/json' || typeof text !== 'string') continue;
    check('resources of type application/json are JSON', parse(text) === undefined ? uri : undefined);
  }
  return list.map(({ text }) => text ?? '').join('');
}

async function callTool(request: Requests, { name, outputSchema }: Members, check: Recorder): Promise<string> {
  const { result, error } = await request('tools/call', { name, arguments: {} });
  const { content, structuredContent: data, isError } = Object(result);
  const texts: string[] = (Array.isArray(content) ? content : []).flatMap(({ type, text }) =>
    type === 'text' ? [text] : [],
  );
  const answer = JSON.stringify(result ?? error).slice(0, 200);
  check('read-only tools have content', Array.isArray(content) && isError !== true ? undefined : `${name}: ${answer}`);
  if (outputSchema !== undefined && isError !== true) {
    const isValid = compile(outputSchema).isValid?.(data) ?? false;
    check('structuredContent is valid by outputSchema', isValid ? undefined : `${name}: ${answer}`);
  }
  const [said] = texts.map(parse).filter((value) => typeof value === 'object');
  if (data !== undefined && said !== undefined) {
    check('structuredContent equals the text', isDeepStrictEqual(said, data) ? undefined : `${name}: ${answer}`);
  }
  return texts.join('\n');
}

async function checkErrors(request: Requests, connection: Connection, target: Target, check: Recorder): Promise<void> {
  const unknown = await request('bench/unknown');
  check(
    'an unknown method is error -32601',
    unknown.error?.['code'] === -32601 ? undefined : JSON.stringify(unknown.error),
  );
  const tool = await request('tools/call', { name: 'bench_unknown', arguments: {} });
  const isRefused = tool.error !== undefined || tool.result?.['isError'] === true;
  check('an unknown tool is an error', isRefused ? undefined : 'it has a result');
  const resource = await request('resources/read', { uri: 'bench://unknown' });
  check('an unknown resource is an error', resource.error === undefined ? 'it has a result' : undefined);
  const broken = await connection.send('{"jsonrpc":');
  const { error } = Object(broken.message);
  check(
    'a body that is not JSON is error -32700',
    Object(error).code === -32700 ? undefined : `${broken.status} ${broken.text.slice(0, 200)}`,
  );
  if (target.token !== undefined)
    check('answers do not repeat the token', broken.text.includes(target.token) ? 'an error' : undefined);
}
