import { z } from 'zod';
import { crossCheck, EVEN_AFTER_ISSUES } from './cross-check.ts';
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
import { AdminTls, HttpTls } from './tls.ts';

const HttpShape = z.strictObject({
  host: listenHost.default('127.0.0.1').describe('Address to listen on. Use 0.0.0.0 or :: in a container.'),
  port: port.default(8080).describe('TCP port; 0 lets the system choose.'),
  socketPath: socketPath.optional().describe('Unix socket to listen on; host and port are then not used.'),
  tls: HttpTls.optional().describe('TLS, in place of plain HTTP. Unset: something in front ends it, or nothing does.'),
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
      'Addresses and networks (10.0.0.0/8) of the proxies whose Forwarded or X-Forwarded-For is believed, and unix for whoever connects over socketPath. Each of them must add the address that it was asked from.',
    ),
  maxUrlBytes: bytes(256).default(8192).describe('Longest request target; a longer one is 414.'),
  maxHeaderBytes: bytes(1024).default(16_384).describe('All request headers together; more is 431.'),
  headersTimeoutMs: milliseconds()
    .default(10_000)
    .describe('How long a client may take to send its headers; then 408. As long it has for the handshake of TLS.'),
  requestTimeoutMs: milliseconds()
    .default(15_000)
    .describe('How long a client may take to send a whole request; then 408. No less than headersTimeoutMs.'),
  keepAliveTimeoutMs: milliseconds().default(65_000).describe('How long an idle connection is kept.'),
  sendTimeoutMs: milliseconds()
    .default(30_000)
    .describe('How long a client may leave an answer unread; then the connection is closed.'),
  maxConnections: whole(1, 1_000_000)
    .default(10_000)
    .describe(
      'Open connections. Once all are open, those that were idle for longest, and for a second at least, are closed for the next ones; where there are none, more are refused.',
    ),
  maxPipelined: whole(1, 1000)
    .default(16)
    .describe('Requests of one connection that are worked on at once. It is not read from while more wait.'),
  maxPipelinedWaiting: whole(1, 1_000_000)
    .default(1024)
    .describe(
      'Requests beyond maxPipelined that wait, of all connections together; a connection that sends more is cut.',
    ),
  maxHeldBodyBytes: bytes(1024)
    .default(67_108_864)
    .describe('Request bodies that are held until their requests are answered, all together; more are 503.'),
  maxEventLoopDelayMs: milliseconds(0)
    .default(500)
    .describe(
      'How late the event loop may be, several times in a row; then reads and MCP are 503 until it has caught up. 0: however late.',
    ),
  maxConnectionUnsentBytes: bytes(1)
    .default(1_048_576)
    .describe('Answers that one connection may leave unread; beyond, no further request of it is worked on.'),
  maxUnsentBytes: bytes(65_536)
    .default(268_435_456)
    .describe('The same for all connections together; beyond, those are closed that have read nothing for longest.'),
  compressMinBytes: bytes(0).default(1024).describe('Answers smaller than this are sent uncompressed.'),
  maxCompressions: whole(1, 64)
    .default(2)
    .describe(
      'Answers that are compressed at once; the next ones wait. What is not compressed within the deadline of its read is sent uncompressed.',
    ),
});

/** The public listener: the two reads, and the probes. */
export const HttpSettings = HttpShape.superRefine(
  crossCheck<z.output<typeof HttpShape>>((http, report) => {
    // Node throws at start when it is the other way round. Types are not: no comparison of anything else is true.
    if (Number(http?.requestTimeoutMs) < Number(http?.headersTimeoutMs)) {
      report(['requestTimeoutMs'], 'must be no less than headersTimeoutMs');
    }
    if (http?.tls !== undefined && http.socketPath !== undefined) {
      report(['tls'], 'stands beside socketPath: whoever reaches a Unix socket is on this machine');
    }
  }),
  EVEN_AFTER_ISSUES,
);

/** `portico stdio`. */
const StdioSettings = z.strictObject({
  token: z
    .string()
    .default('')
    .describe(
      'Access token that portico stdio and portico check --probe read the platform with. Left out of a file: PORTICO_TOKEN of the environment. Empty: neither starts where a platform is given it.',
    ),
});

/** MCP, over HTTP and over stdio. */
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
  maxBodyBytes: bytes(1024).default(1_048_576).describe('Largest message of a client; over HTTP, more is 413.'),
  maxMessageValues: whole(100, 1_000_000)
    .default(10_000)
    .describe('Objects, lists and members of one message, those of a batch together; over HTTP, more is 413.'),
  maxResultBytes: bytes(1024)
    .default(65_536)
    .describe('Largest result of a tool, so that it fits a model; instead of more, the tool says how to narrow it.'),
  maxBatch: whole(1, 1000)
    .default(100)
    .describe('Messages of one batch; a longer one is 400. They are worked on one after the other.'),
  maxAnswerBytes: bytes(1024)
    .default(67_108_864)
    .describe('Responses to one batch together. Its first always fits; those beyond are errors that say so.'),
  maxEscapingBytes: bytes(1024)
    .default(134_217_728)
    .describe('Long lists that are made part of responses at once; beyond, a read is 503. One is always taken on.'),
  maxParsedBytes: bytes(1024)
    .default(4_194_304)
    .describe(
      'Lists that are kept parsed for tools to search, and as much again while it is parsed; any other is parsed each time.',
    ),
  stdio: StdioSettings.prefault({}).describe('What portico stdio alone needs.'),
});

/** The admin listener: operations only, never a read. */
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
  tls: AdminTls.optional().describe('TLS, in place of plain HTTP.'),
  metrics: z.boolean().default(true).describe('Whether there are metrics, at /metrics. Without, nothing is counted.'),
});

/** What happens between SIGTERM and the end of the process. */
export const ShutdownSettings = z.strictObject({
  delayMs: milliseconds(0)
    .default(0)
    .describe(
      'How long to go on accepting after SIGTERM, with /readyz at 503, so that load balancers notice. 0: not at all.',
    ),
  graceMs: milliseconds().default(10_000).describe('How long requests in flight may take to finish.'),
});
