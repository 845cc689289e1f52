/** What stands in the snippets for the address of this server, as in `docs/clients.md`. */
export const DOCUMENTED_ORIGIN = 'http://127.0.0.1:8080';

/** And for the resource that they read. */
export const DOCUMENTED_URI = 'platform://projects';

/** How one client is told of this server. */
export interface Snippet {
  readonly client: string;
  /** Where it goes. */
  readonly where: string;
  readonly text: string;
}

/** For MCP. To the letter those of `docs/clients.md` that go over HTTP: they are run there. */
export const MCP_SNIPPETS: readonly Snippet[] = [
  {
    client: 'Claude Code',
    where: 'in a shell',
    text: `claude mcp add --transport http portico http://127.0.0.1:8080/mcp --header "Authorization: Bearer $PORTICO_TOKEN"
`,
  },
  {
    client: 'Claude Code, for a project',
    where: '.mcp.json',
    text: `{
  "mcpServers": {
    "portico": {
      "type": "http",
      "url": "http://127.0.0.1:8080/mcp",
      "headers": { "Authorization": "Bearer \${PORTICO_TOKEN}" }
    }
  }
}
`,
  },
  {
    client: 'VS Code',
    where: '.vscode/mcp.json',
    text: `{
  "inputs": [
    { "type": "promptString", "id": "portico-token", "description": "Access token for Portico", "password": true }
  ],
  "servers": {
    "portico": {
      "type": "http",
      "url": "http://127.0.0.1:8080/mcp",
      "headers": { "Authorization": "Bearer \${input:portico-token}" }
    }
  }
}
`,
  },
  {
    client: 'Cursor',
    where: '.cursor/mcp.json',
    text: `{
  "mcpServers": {
    "portico": {
      "url": "http://127.0.0.1:8080/mcp",
      "headers": { "Authorization": "Bearer \${env:PORTICO_TOKEN}" }
    }
  }
}
`,
  },
  {
    client: 'MCP Inspector',
    where: 'in a shell',
    text: `npx @modelcontextprotocol/inspector --cli --transport http --server-url http://127.0.0.1:8080/mcp --header "Authorization: Bearer $PORTICO_TOKEN" --method resources/list
npx @modelcontextprotocol/inspector --cli --transport http --server-url http://127.0.0.1:8080/mcp --header "Authorization: Bearer $PORTICO_TOKEN" --method resources/read --uri platform://projects
`,
  },
];

/** Without MCP, likewise. */
export const HTTP_SNIPPET: Snippet = {
  client: 'Any HTTP client',
  where: 'in a shell',
  text: `curl -H "Authorization: Bearer $PORTICO_TOKEN" "http://127.0.0.1:8080/mcp/v1/resources"
curl -H "Authorization: Bearer $PORTICO_TOKEN" "http://127.0.0.1:8080/mcp/v1/resources/read?uri=platform://projects"
`,
};
