import { createServer, type RequestListener, type Server } from 'node:http';

/** Where a listener is bound, and how much of anything it takes. */
export interface ListenerSettings {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Unix socket to listen on instead. */
  readonly socketPath?: string | undefined;
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly maxConnections: number;
}

/** How many times the headers timeout is looked at before it passes. */
const CHECKS_PER_TIMEOUT = 5;
const LONGEST_CHECK_MS = 1000;

/** A `node:http` server within these limits. `inactivityMs` is how long nothing may move on a connection. */
export function createListener(settings: ListenerSettings, inactivityMs: number, answer: RequestListener): Server {
  const { maxUrlBytes, maxHeaderBytes, requestTimeoutMs, keepAliveTimeoutMs, maxConnections } = settings;
  const headersTimeoutMs = Math.min(settings.headersTimeoutMs, requestTimeoutMs);
  const server = createServer(
    {
      insecureHTTPParser: false,
      // Both are checked again, with a whole answer to the caller (checks/host.ts, checks/framing.ts).
      requireHostHeader: false,
      // The parser counts target and headers together; each by itself is checked again.
      maxHeaderSize: maxUrlBytes + maxHeaderBytes + 1,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(Math.ceil(headersTimeoutMs / CHECKS_PER_TIMEOUT), LONGEST_CHECK_MS),
      keepAliveTimeout: keepAliveTimeoutMs,
    },
    answer,
  );
  server.maxConnections = maxConnections;
  // Bytes are bounded; beyond a number of headers, Node 22 would leave the others out in silence.
  server.maxHeadersCount = 0;
  server.timeout = inactivityMs;
  // Neither `100 Continue` for a body that nobody wants, nor Node's bare 417.
  server.on('checkContinue', answer);
  server.on('checkExpectation', answer);
  // A client that has ended its side still gets its answer. Node has no option for this, only the property.
  return Object.assign(server, { httpAllowHalfOpen: true });
}
