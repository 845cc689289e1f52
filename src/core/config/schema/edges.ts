import { z } from 'zod';
import { withChecks } from './cross-check.ts';
import {
  bytes,
  hostWithPort,
  listenHost,
  milliseconds,
  port,
  socketPath,
  trustedProxy,
  webOrigin,
  whole,
} from './scalars.ts';
import { ListenerTls } from './tls.ts';

const HttpShape = z.strictObject({
  host: listenHost.default('127.0.0.1').describe('Address to listen on. Use 0.0.0.0 or :: in a container.'),
  port: port.default(8080).describe('TCP port; 0 lets the system choose.'),
  socketPath: socketPath.optional().describe('Unix socket to listen on; host and port are then not used.'),
  tls: ListenerTls.optional().describe(
    'TLS, in place of plain HTTP. Unset: something in front ends it, or nothing does.',
  ),
  allowedHosts: z
    .array(hostWithPort)
    .min(1)
    .optional()
    .describe(
      'Host header values to answer for beside that of publicUrl, with port where it is not the default of the scheme; name:* is any port. Unset: loopback names, and where host is no loopback address also IP addresses, and with verification any name. Without verification this or publicUrl is required where host is no loopback address.',
    ),
  allowedOrigins: z
    .array(webOrigin)
    .default([])
    .describe(
      'Web origins, beside its own, whose pages may read and speak MCP here (CORS). Requests without Origin (all but browsers) are not affected.',
    ),
  trustedProxies: z
    .array(trustedProxy)
    .default([])
    .describe(
      'Addresses and networks (10.0.0.0/8) of proxies whose Forwarded or X-Forwarded-For is trusted; unix for connections over socketPath. Each proxy must append the address of its client.',
    ),
  maxConnections: whole(1, 1_000_000)
    .default(10_000)
    .describe(
      'Open connections, or less as the limit of open files (ulimit -n) allows. Beyond: the longest idle ones are closed, and without any, new ones are refused.',
    ),
  keepAliveTimeoutMs: milliseconds().default(65_000).describe('How long an idle connection is kept.'),
});

export const HttpSettings = withChecks(HttpShape, (http, report) => {
  if (http?.tls !== undefined && http.socketPath !== undefined) {
    report(['tls'], 'cannot be combined with socketPath: clients of a Unix socket are on this machine');
  }
});

export const McpSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether POST /mcp is answered.'),
  tools: z
    .boolean()
    .default(true)
    .describe('Whether the resources are offered as tools, too: most assistants see tools only.'),
  publicLists: z
    .boolean()
    .default(false)
    .describe(
      'Whether what is offered may be listed over HTTP without a token. Every read and every tool needs one all the same.',
    ),
  maxResultBytes: bytes(1024)
    .default(40_000)
    .describe(
      "Longest text of a tool's result, which hosts pass on to a model; instead of more, the tool says how to narrow it. Its data (`structuredContent`) is the same list again, and not counted.",
    ),
  hiddenText: z
    .enum(['escape', 'keep'])
    .default('escape')
    .describe(
      'Characters that a person does not see, in the results of tools: escape shows them as \\u{200b}, because a model reads them. keep is for platforms whose texts must reach a model unchanged. Reads are never changed.',
    ),
});

export const AdminSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether there is an admin listener.'),
  host: listenHost.default('127.0.0.1').describe('Address to listen on.'),
  port: port.default(9090).describe('TCP port; 0 lets the system choose.'),
  allowedHosts: z
    .array(hostWithPort)
    .min(1)
    .optional()
    .describe(
      'Host header values to answer for, such as that of a Service which a scraper asks, beside loopback names and, where host is no loopback address, IP addresses; name:* is any port.',
    ),
  tls: ListenerTls.optional().describe('TLS, in place of plain HTTP.'),
  metrics: z.boolean().default(true).describe('Whether there are metrics, at /metrics. Without, nothing is counted.'),
});

export const ShutdownSettings = z.strictObject({
  delayMs: milliseconds(0)
    .default(0)
    .describe(
      'How long to go on accepting after SIGTERM, with /readyz at 503, so that load balancers notice. 0: not at all.',
    ),
  graceMs: milliseconds().default(10_000).describe('How long requests in flight may take to finish.'),
});
