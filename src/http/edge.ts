import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import Koa from 'koa';
import { nameError } from '../observability/causes.ts';
import type { Logger } from '../observability/logger.ts';
import { accessLine, logAccess } from './access-log.ts';
import { answerBareSockets } from './bare-answers.ts';
import { checkFraming } from './checks/framing.ts';
import { type Connections, createConnections } from './connections.ts';
import type { Middleware, Routed, State } from './context.ts';
import type { Lifecycle } from './lifecycle.ts';
import { listen } from './listen.ts';
import { createListener, type ListenerSettings } from './listener.ts';
import { logBug } from './log-bug.ts';
import { answerErrors } from './middleware/answer-errors.ts';
import { refuseUnrouted } from './middleware/refuse-unrouted.ts';
import { runChecks } from './middleware/run-checks.ts';
import { trackExchange } from './middleware/track-exchange.ts';
import { rarely } from './rarely.ts';

/** At most one line in this time says that connections are refused. */
const REFUSALS_PAUSE_MS = 10_000;

export interface EdgeOptions {
  readonly settings: ListenerSettings;
  /** How long nothing may move on a connection. */
  readonly inactivityMs: number;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  /** Whether a request may have a body. @default none may */
  readonly takesBody?: (req: IncomingMessage) => boolean;
  /** What stands between framing and the refusal of what no route took. `address` is where the listener is bound. */
  readonly middleware: (address: Address) => readonly Middleware[];
  /** What may answer a request ahead of all that; it tells whether it has. */
  readonly ahead?: ((connections: Connections, address: Address) => Ahead) | undefined;
}

/** Where the listener is bound. */
export type Address = () => AddressInfo | string | null;

export type Ahead = (req: IncomingMessage, res: ServerResponse) => boolean;

/** One HTTP listener, and the way it ends. */
export interface HttpServer {
  /** Resolves with the base URL, `http://127.0.0.1:1234` or `unix:/path`. Rejects with Node's own error. */
  listen(): Promise<string>;
  isDraining(): boolean;
  /** Has `/readyz` say 503 from now on. Everything else is answered as ever. */
  markDraining(): void;
  /**
   * Takes no more, and gives what is in flight `graceMs` to finish; then destroys what is left. Resolves once nothing is
   * open, with whether every answer was sent whole.
   */
  drain(graceMs: number): Promise<boolean>;
}

/** What the public and the admin listener have in common. */
export function createEdge(options: EdgeOptions): HttpServer {
  const { settings, inactivityMs, logger, lifecycle, middleware, takesBody = () => false, ahead } = options;
  const connections = createConnections({
    lifecycle,
    onEnd: (exchange) => logAccess(logger, accessLine(exchange)),
    takesBody,
  });
  const address: Address = () => server.address();
  const app = new Koa<State, Routed>();
  const layers: readonly Middleware[] = [
    trackExchange(connections),
    answerErrors(logger),
    runChecks([checkFraming(settings)]),
    ...middleware(address),
    refuseUnrouted,
  ];
  for (const layer of layers) app.use(layer);
  // What comes here was thrown after the answer was made; or the caller's socket failed, and that has its access line.
  app.on('error', (error: unknown, ctx: Koa.Context) => {
    if (!ctx.req.socket.destroyed) logBug(logger, ctx.state.exchange, error);
  });
  const answer = app.callback();
  const answered = ahead?.(connections, address);
  const server = createListener(settings, inactivityMs, (req, res) => {
    if (answered?.(req, res) !== true) answer(req, res);
  });
  answerBareSockets(server, connections, logger);
  server.on('connection', connections.open);
  server.on(
    'drop',
    rarely(REFUSALS_PAUSE_MS, () => logger.warn({ maxConnections: settings.maxConnections }, 'connections refused')),
  );

  async function drain(graceMs: number): Promise<boolean> {
    lifecycle.draining = true;
    lifecycle.stopping = true;
    // Not http.Server's own close(): that also destroys connections whose answer is still being written (Node 26).
    NetServer.prototype.close.call(server);
    // What has arrived already is parsed first, so that it gets an answer rather than a reset.
    await turn();
    await turn();
    connections.closeIdle();
    const finished = connections.empty();
    const grace = new AbortController();
    await Promise.race([finished, sleep(graceMs, undefined, { signal: grace.signal }).catch(() => {})]);
    grace.abort();
    const cut = connections.cut('draining');
    await finished;
    // Ends what else http.Server keeps going.
    server.close();
    return cut === 0;
  }

  return {
    async listen() {
      const url = await listen(server, settings);
      server.on('error', (error) => logger.error({ error: nameError(error) }, 'listener error'));
      return url;
    },
    isDraining: () => lifecycle.draining,
    markDraining() {
      lifecycle.draining = true;
    },
    drain,
  };
}
