import {
  type CallToolResult,
  ProtocolError,
  ResourceNotFoundError,
  Client as SdkClient,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type Client, type Server, texts } from './client.ts';

/** The official SDK for TypeScript, version 2, in one of its modes. */
export function sdkV2(name: string, mode: VersionNegotiationMode): Client {
  return {
    name: `@modelcontextprotocol/client 2, ${name}`,
    revision: mode === 'legacy' ? '2025-11-25' : '2026-07-28',
    tellsRevision: ['http', 'stdio'],
    async connect(server) {
      // Its own cache is off: each read is to reach Portico.
      const client = new SdkClient({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
      await client.connect(transportTo(server));
      return {
        revision: client.getNegotiatedProtocolVersion(),
        list: async () => (await client.listResources()).resources,
        read: async (uri) => texts((await client.readResource({ uri }, { cacheMode: 'bypass' })).contents),
        call: async (tool, args) => texts(contentOf(await client.callTool({ name: tool, arguments: args }))),
        close: () => client.close(),
      };
    },
    errorOf(error) {
      // The client turns -32002 into this class and drops code and data.
      if (error instanceof ResourceNotFoundError) return { message: error.message };
      if (error instanceof ProtocolError) return { message: error.message, code: error.code, data: error.data };
      if (error instanceof SdkHttpError) return { message: error.message, status: error.status };
      throw error;
    },
  };
}

function transportTo(server: Server) {
  if (server.kind === 'stdio') return new StdioClientTransport({ ...server, args: [...server.args] });
  const { url, token } = server;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

function contentOf({ content, isError }: CallToolResult) {
  if (isError === true) throw new Error(`the tool failed: ${JSON.stringify(content)}`);
  return content;
}
