import { createMCPClient, MCPClientError } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { type Client, type Server, texts } from './client.ts';

/** The client of the AI SDK, which implements the protocol by itself. */
export function aiSdk(revision: Client['revision']): Client {
  return {
    name: `@ai-sdk/mcp, ${revision}`,
    revision,
    tellsRevision: ['http', 'stdio'],
    async connect(server) {
      const client = await createMCPClient({
        transport: transportTo(server),
        protocolVersionDiscovery: revision === '2026-07-28',
      });
      return {
        revision: client.initializeResult.protocolVersion,
        list: async () => (await client.listResources()).resources,
        read: async (uri) => texts((await client.readResource({ uri })).contents),
        call: async (tool, args) => {
          const { content, isError } = await client.callTool({ name: tool, arguments: args });
          if (isError === true || !Array.isArray(content)) throw new Error('the tool failed');
          return texts(content);
        },
        close: () => client.close(),
      };
    },
    errorOf(error) {
      if (!MCPClientError.isInstance(error)) throw error;
      const { message, code, data, statusCode: status } = error;
      if (code !== undefined) return { message, code, data };
      if (status !== undefined) return { message, status };
      throw error;
    },
  };
}

function transportTo(server: Server) {
  if (server.kind === 'stdio') {
    const transport = new StdioMCPTransport({ ...server, args: [...server.args] });
    // Else it takes a server that does not answer within a second for one of an earlier revision, and a busy machine may take
    // longer to start one from its sources.
    return Object.assign(transport, { waitsForProtocolVersionDiscovery: true });
  }
  const { url, token } = server;
  return { type: 'http' as const, url, ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }) };
}
