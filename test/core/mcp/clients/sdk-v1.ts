import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { type Client, type Server, texts } from './client.ts';

/** The official SDK for TypeScript, version 1, which most clients of today are built on. */
export const sdkV1: Client = {
  name: '@modelcontextprotocol/sdk 1',
  revision: '2025-11-25',
  tellsRevision: ['http'],
  async connect(server) {
    const client = new SdkClient({ name: 'test', version: '0' });
    const transport = transportTo(server);
    await client.connect(transport);
    return {
      revision: transport instanceof StreamableHTTPClientTransport ? transport.protocolVersion : undefined,
      list: async () => (await client.listResources()).resources,
      read: async (uri) => texts((await client.readResource({ uri })).contents),
      call: async (tool, args) => {
        const result = await client.callTool({ name: tool, arguments: args });
        const { content, isError } = CallToolResultSchema.parse(result);
        if (isError === true) throw new Error(`the tool failed: ${JSON.stringify(content)}`);
        return texts(content);
      },
      close: () => client.close(),
    };
  },
  errorOf(error) {
    if (error instanceof McpError) return { message: error.message, code: error.code, data: error.data };
    if (error instanceof StreamableHTTPError && error.code !== undefined) {
      return { message: error.message, status: error.code };
    }
    throw error;
  },
};

function transportTo(server: Server) {
  if (server.kind === 'stdio') return new StdioClientTransport({ ...server, args: [...server.args] });
  const { url, token } = server;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}
