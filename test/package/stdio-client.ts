import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** What a client finds: the tools, and the first resource. */
export async function lookAround(server: StdioServer): Promise<{ tools: string[]; projects: unknown }> {
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(new StdioClientTransport({ ...server, args: [...server.args], stderr: 'ignore' }));
  try {
    const { tools } = await client.listTools();
    const { contents } = await client.readResource({ uri: 'platform://projects' });
    const [content = {}] = contents;
    const text = 'text' in content ? String(content.text) : 'null';
    return { tools: tools.map(({ name }) => name), projects: JSON.parse(text) };
  } finally {
    await client.close();
  }
}
