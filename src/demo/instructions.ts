import type { DemoPlatform } from './platform.ts';

/** Returns what `npm run demo` prints: requests to try, each a line to paste into a terminal. */
export function demoInstructions(gatewayUrl: string, platform: DemoPlatform['urls']): string {
  const list = new URL('/mcp/v1/resources', gatewayUrl).href;
  const read = (resource: string) => `${list}/read?uri=platform://${resource}`;
  // -w ends the body with a newline, which keeps the prompt off its last line.
  const get = (url: string, token: string, flags = '-s') =>
    `curl ${flags} -w '\\n' '${url}' -H 'Authorization: Bearer ${token}'`;
  const set = (api: string, query: string) => `curl -s -X PUT '${api}/demo${query}'`;
  return `
Portico is at ${gatewayUrl}, in front of three demo APIs:
  projects   ${platform.projects}
  workflows  ${platform.workflows}
  tools      ${platform.tools}

# How MCP clients connect: open ${gatewayUrl} in a browser

# The list of resources, and each of the three
${get(list, 'demo-alice')}
${get(read('projects'), 'demo-alice')}
${get(read('workflows'), 'demo-alice')}
${get(read('tools'), 'demo-alice')}

# Bob sees other projects; a stranger sees none
${get(read('projects'), 'demo-bob')}
${get(read('projects'), 'stranger', '-si')}

# Make the projects API fail, and look again; GET /demo names the other faults
${set(platform.projects, '?fault=unavailable')}
${get(read('projects'), 'demo-alice', '-si')}
${set(platform.projects, '')}

# Tools are kept for some seconds, and longer while their API fails: watch Cache-Status
${set(platform.tools, '?fault=error&latencyMs=100')}
${get(read('tools'), 'demo-alice', '-si')}
curl -s '${platform.tools}/demo'
${set(platform.tools, '')}

Ctrl+C ends it.
`;
}
