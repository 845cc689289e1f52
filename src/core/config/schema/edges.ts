import { z } from 'zod';
import { withChecks } from './cross-check.ts';
import {
  bytes,
  hostName,
  listenHost,
  milliseconds,
  port,
  socketPath,
  trustedProxy,
  webOrigin,
  whole,
} from './scalars.ts';
import { ListenerTlsSettings } from './tls.ts';

const HttpShape = z.strictObject({
  host: listenHost.default('127.0.0.1').describe('Address to listen on. Use 0.0.0.0 or :: in a container.'),
  port: port.default(8080).describe('TCP port; 0 lets the system choose.'),
  socketPath: socketPath.optional().describe('Unix socket to listen on; host and port are then not used.'),
  reusePort: z
    .boolean()
    .default(false)
    .describe(
      'Whether several processes of this machine may listen on the port (SO_REUSEPORT): the kernel spreads connections over them.',
    ),
  tls: ListenerTlsSettings.optional().describe(
    'Serves TLS instead of plain HTTP. Unset: plain HTTP, for example behind a proxy that terminates TLS.',
  ),
  allowedHosts: z
    .array(hostName)
    .min(1)
    .optional()
    .describe(
      'Names in Host headers of clients, without ports, in addition to that of publicUrl, loopback names and IP addresses. Unset with verification: any name. If host is not a loopback address, this, publicUrl or verification is required.',
    ),
  allowedOrigins: z
    .array(webOrigin)
    .default([])
    .describe(
      'Web origins whose pages may use this server (CORS), in addition to its own. Requests without an Origin header, as from clients other than browsers, are not affected.',
    ),
  trustedProxies: z
    .array(trustedProxy)
    .default([])
    .describe(
      "Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For header is trusted; unix means connections over socketPath. Each proxy must append its client's address.",
    ),
  maxConnections: whole(1, 1_000_000)
    .default(10_000)
    .describe(
      'Open connections; fewer if the limit of open files (ulimit -n) requires it. Beyond: the longest idle connection is closed, or the new one is refused if none is idle.',
    ),
  keepAliveTimeoutMs: milliseconds().default(65_000).describe('Time for which an idle connection is kept open.'),
});

export const HttpSettings = withChecks(HttpShape, (http, report) => {
  if (http.tls !== undefined && http.socketPath !== undefined) {
    report(['tls'], 'cannot be combined with socketPath: clients of a Unix socket are on this machine');
  }
});

export const McpSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether POST /mcp is answered.'),
  tools: z
    .boolean()
    .default(true)
    .describe('Whether the resources are also offered as tools. Most assistants only show tools to the model.'),
  publicLists: z
    .boolean()
    .default(false)
    .describe(
      'Whether resources and tools can be listed over HTTP without a token, and lists have those that a token cannot read. Reads and tool calls always need one.',
    ),
  maxResultBytes: bytes(1024)
    .default(40_000)
    .describe(
      'Largest text of a tool result, which hosts pass on to a model. Beyond: an error that says how to narrow the request. `structuredContent` repeats the list and is not counted.',
    ),
  hiddenText: z
    .enum(['escape', 'keep'])
    .default('escape')
    .describe(
      'Invisible characters in tool results: escape shows them as \\u{200b}, because a model would read them; keep leaves them unchanged. Reads are never changed.',
    ),
});

export const AdminSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether there is an admin listener, with metrics, status and probes.'),
  host: listenHost.default('127.0.0.1').describe('Address to listen on.'),
  port: port.default(9090).describe('TCP port; 0 lets the system choose.'),
  allowedHosts: z
    .array(hostName)
    .min(1)
    .optional()
    .describe(
      'The same for this listener, such as the name of a Service that is scraped. Loopback names and IP addresses are always accepted.',
    ),
  tls: ListenerTlsSettings.optional().describe('Serves TLS instead of plain HTTP.'),
});

export const ShutdownSettings = z.strictObject({
  delayMs: milliseconds(0)
    .default(0)
    .describe(
      'Time after SIGTERM in which requests are still accepted while /readyz returns 503, so that load balancers can react. 0: none.',
    ),
  graceMs: milliseconds().default(10_000).describe('Time for requests in flight to finish.'),
});
