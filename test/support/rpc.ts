import { requestText } from './raw-http.ts';

/** Header fields that a client of MCP sends with each message, beside its credential. */
export const RPC_FIELDS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** A request of JSON-RPC. */
export const rpc = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

export const readOf = (name: string, id?: number | string) => rpc('resources/read', { uri: `platform://${name}` }, id);
export const callOf = (name: string, args: object = {}) => rpc('tools/call', { name, arguments: args });

/** A message as the body of a request: text is sent as it is. */
export const bodyOf = (message: unknown): string => (typeof message === 'string' ? message : JSON.stringify(message));

/** The text of a `POST` of this message to `/mcp`. */
export const postText = (message: unknown, fields: Readonly<Record<string, string | undefined>> = {}): string =>
  requestText('POST', '/mcp', { ...RPC_FIELDS, ...fields }, bodyOf(message));
