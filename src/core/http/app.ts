import type { Next } from 'koa';
import { createErrorRecorder } from '../credentials/error-recorder.ts';
import { endRecord } from '../kernel/caller.ts';
import type { Events } from '../kernel/events.ts';
import { abortConnection, abortedFor } from './connection/aborted.ts';
import { HttpRequest } from './http-request.ts';
import { Koa } from './koa.ts';
import { discardBody } from './request/incoming-body.ts';
import { hasBody } from './request/request-head.ts';
import type { HttpResponse } from './response/http-response.ts';
import { problemResponse } from './response/problem.ts';
import { sendResponse } from './response/send.ts';
import type { UnreadResponses } from './response/unread.ts';
import { type Context, createRoutes, type RoutedService, type Service, type State, unmatched } from './routes.ts';

interface AppOptions {
  readonly events: Events;
  readonly unread: UnreadResponses;
}

/** Creates the Koa application of one listener. */
export function createApp(first: Service, { events, unread }: AppOptions) {
  let current: RoutedService = { ...first, ...createRoutes(first) };
  const app = new Koa<State>();
  const { recordError, reportBug } = createErrorRecorder(events);
  app
    .use(requestContext) // id, start time, trace; at the end the line of the log
    .use(responses) // sends the response; GatewayError → problem; anything else is a bug → internal
    .use(admission) // sizes, framing, host, origin, address
    .use(routes) // path and method; then authentication; then the operation, which reads the query
    .use(unmatched); // 404, 405
  // Koa passes on what has closed a connection, too.
  app.on('error', (thrown: unknown, { req, state }: Context) => {
    const { record, credentials } = state.portico;
    if (thrown !== req.socket.errored) reportBug(record, thrown, credentials.all);
  });

  function requestContext(ctx: Context, next: Next): Promise<void> {
    const request = new HttpRequest(ctx, current);
    ctx.state.portico = request;
    // Koa's own response costs 15 % of a cached read.
    ctx.respond = false;
    const leave = current.users?.enter(() => abortConnection(ctx.req.socket, 'response_unread'));
    ctx.res.on('close', () => {
      leave?.();
      end(request);
    });
    return next();
  }

  function end(request: HttpRequest): void {
    const { req, res, record } = request;
    endRecord(record);
    record.status = res.headersSent ? res.statusCode : undefined;
    if (res.writableFinished && !req.socket.destroyed) {
      record.outcome = record.error?.code ?? (record.status === 304 ? 'not_modified' : 'ok');
    } else {
      // A client ends a stream by leaving.
      record.outcome = abortedFor(req.socket) ?? (record.headMs === undefined ? 'caller_gone' : 'ok');
      record.bytes = 0;
      request.markDisconnected();
    }
    events.requestEnded?.(record);
  }

  async function responses({ state: { portico: request } }: Context, next: Next): Promise<void> {
    try {
      await next();
      send(request, request.response);
    } catch (thrown) {
      if (!request.isDisconnected) await refuse(request, thrown);
    }
    request.service.hooks.onSettled(request);
  }

  function send(request: HttpRequest, response: HttpResponse | undefined): void {
    if (request.isDisconnected || response === undefined) return;
    sendResponse(request, response)?.catch((thrown) => abortWithBug(request, thrown));
    unread.add(request);
  }

  async function refuse(request: HttpRequest<Service>, thrown: unknown): Promise<void> {
    const { req, record, service, credentials } = request;
    const error = recordError(thrown, record, credentials.all);
    try {
      if (hasBody(req) && !req.readableEnded) await discardBody(req);
      send(request, problemResponse(error, record.requestId, service.challenge));
    } catch (again) {
      abortWithBug(request, again);
    }
  }

  /** A response that is cut off cannot pass for a whole one. */
  function abortWithBug(request: HttpRequest, thrown: unknown): void {
    if (request.isDisconnected) return;
    reportBug(request.record, thrown, request.credentials.all);
    abortConnection(request.req.socket, 'internal');
  }

  return {
    app,
    /** Serves the requests that begin from now on. */
    change(next: Service): void {
      current = { ...next, ...createRoutes(next) };
    },
  };
}

function admission(ctx: Context, next: Next): Promise<void> {
  const { portico: request } = ctx.state;
  const { target, service } = request;
  service.admit(request, service.atPath.get(target?.path ?? ''));
  // The router compares paths.
  if (target?.authority !== undefined) ctx.url = target.query === '' ? target.path : `${target.path}?${target.query}`;
  return next();
}

function routes(ctx: Context, next: Next): Promise<void> {
  return ctx.state.portico.service.routes(ctx, next);
}
