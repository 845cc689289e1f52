/** Where a server is. The token is sent as `Authorization: Bearer`, and appears in no output. */
export interface Target {
  readonly url: string;
  readonly token?: string | undefined;
}

/** What a server answered to one message. */
export interface Answer {
  readonly status: number;
  /** The JSON that it sent: of an event stream, the message with the request's id. `undefined` where there is none. */
  readonly message: unknown;
  readonly text: string;
}

/** Requests of one revision of the protocol. */
export interface Connection {
  readonly revision: string;
  /** Sends a request with this id. Rejects where the connection fails or takes longer than 30 s. */
  request(id: string | number, method: string, params?: object): Promise<Answer>;
  /** Sends a body as it is. */
  send(body: string): Promise<Answer>;
  /** Ends the session, where there is one. */
  close(): Promise<void>;
}

export const STATELESS = '2026-07-28';
const WITH_INITIALIZE = '2025-11-25';

const TIMEOUT_MS = 30_000;
/** Longer answers are an error: the answers of a server without bounds must not fill the memory. */
const MAX_BYTES = 64 * 1_048_576;
const CLIENT = { name: 'bench', version: '1' };

/** Requests of the revision in which each has an envelope and there is no session. */
export function connectStateless(target: Target): Connection {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    revision: STATELESS,
    close: async () => {},
    send: (body) => post(target, body, { 'mcp-protocol-version': STATELESS }, null),
    request(id, method, params = {}) {
      const { name, uri } = params as { name?: string; uri?: string };
      const subject = name ?? uri;
      const headers = {
        ...{ 'mcp-protocol-version': STATELESS, 'mcp-method': method },
        ...(subject !== undefined && { 'mcp-name': subject }),
      };
      const body = { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
      return post(target, JSON.stringify(body), headers, id);
    },
  };
}

/** Initializes as revisions before 2026-07-28 do. Returns the answer, and the connection where the server agreed on a revision. */
export async function connectInitialized(target: Target): Promise<{ answer: Answer; connection?: Connection }> {
  const params = { protocolVersion: WITH_INITIALIZE, capabilities: {}, clientInfo: CLIENT };
  const headers: Record<string, string> = {};
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'initialize', method: 'initialize', params });
  const answer = await post(target, body, headers, 'initialize', (session) => {
    headers['mcp-session-id'] = session;
  });
  const { result } = Object(answer.message);
  const revision = Object(result).protocolVersion;
  if (typeof revision !== 'string') return { answer };
  headers['mcp-protocol-version'] = revision;
  await post(target, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), headers, null);
  const connection: Connection = {
    revision,
    send: (text) => post(target, text, headers, null),
    async close() {
      if (headers['mcp-session-id'] === undefined) return;
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      await fetch(target.url, { method: 'DELETE', headers: { ...credentialOf(target), ...headers }, signal });
    },
    request: (id, method, members = {}) =>
      post(target, JSON.stringify({ jsonrpc: '2.0', id, method, params: members }), headers, id),
  };
  return { answer, connection };
}

function credentialOf({ token }: Target): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

async function post(
  target: Target,
  body: string,
  headers: Readonly<Record<string, string>>,
  id: string | number | null,
  onSession?: (session: string) => void,
): Promise<Answer> {
  const response = await fetch(target.url, {
    method: 'POST',
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...credentialOf(target),
      ...headers,
    },
  });
  const session = response.headers.get('mcp-session-id');
  if (session !== null) onSession?.(session);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const text = await readText(response, (sofar) => isStream && messageOf(sofar, id) !== undefined);
  return { status: response.status, message: isStream ? messageOf(text, id) : parse(text), text };
}

/** Reads a body to its end, or until `isEnough`: an event stream may stay open after the response. */
async function readText({ body }: Response, isEnough: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`);
    if (isEnough(text)) break;
  }
  return text;
}

/** The response in an event stream: the first complete event whose data has the id. */
function messageOf(stream: string, id: string | number | null): unknown {
  const events = stream.replaceAll('\r\n', '\n').split('\n\n').slice(0, -1);
  for (const event of events) {
    const data = event.split('\n').filter((line) => line.startsWith('data:'));
    const message = parse(data.map((line) => line.slice(5).trimStart()).join('\n'));
    if (Object(message).id === id) return message;
  }
  return undefined;
}

/** `undefined` where the text is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
