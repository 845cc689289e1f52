import type { Middleware, ParameterizedContext } from 'koa';
import type { Authenticate } from '../credentials/authenticate.ts';
import type { Caller } from '../kernel/caller.ts';
import { type Challenge, errorWithDetail } from '../kernel/errors.ts';
import type { UseCount } from '../kernel/use-count.ts';
import type { HttpRequest, RequestService } from './http-request.ts';
import { koaRouter } from './koa.ts';
import { type Operation, otherMethod, UNKNOWN_PATH } from './operations/operation.ts';
import type { createAdmit } from './request/admit.ts';
import { hasBody } from './request/request-head.ts';
import type { RequestHooks } from './request-hooks.ts';

/** Everything that settings determine. A reload replaces it for the requests that follow. */
export interface Service extends RequestService {
  readonly admit: ReturnType<typeof createAdmit>;
  readonly authenticate: Authenticate;
  readonly hooks: RequestHooks;
  readonly operations: readonly Operation[];
  /** Further headers that select a list, in lower case. */
  readonly forwardedHeaders: readonly string[];
  /** @default one that names no place to obtain a token */
  readonly challenge?: Challenge | undefined;
  /** Counts requests in flight. @default not counted */
  readonly users?: Pick<UseCount, 'enter'> | undefined;
}

/** `ctx.state`. It has one member, so that the application can be mounted in another one. */
export interface State {
  portico: HttpRequest<RoutedService>;
}

export type RoutedService = Service & ReturnType<typeof createRoutes>;
export type Context = ParameterizedContext<State>;

/** Registers the operations of a service. */
export function createRoutes({ operations, credentialHeaders, forwardedHeaders }: Service) {
  const router = new koaRouter.Router<State>({ strict: true, sensitive: true });
  for (const operation of operations) {
    router.register(operation.path, [...operation.methods], (ctx) => handle(ctx, operation), { ignoreCaptures: true });
  }
  // Pages are 404 to others than browsers.
  const listed = operations.filter(({ isPage }) => isPage !== true);
  const atPath = Map.groupBy(listed, ({ path }) => path);
  return {
    routes: router.routes() as Middleware<State>,
    /** Answers the methods that no operation of a path has, by path. */
    atPath: new Map(
      [...atPath].map(([path, all]) => [path, otherMethod(all, [...credentialHeaders, ...forwardedHeaders])]),
    ),
  };
}

/** Answers what no operation matches: 404, 405, or the response to a preflight. */
export function unmatched(ctx: Context): Promise<void> {
  const { service, target } = ctx.state.portico;
  return handle(ctx, service.atPath.get(target?.path ?? '') ?? UNKNOWN_PATH);
}

async function handle({ state: { portico: request } }: Context, operation: Operation): Promise<void> {
  const { req, record, trace, service } = request;
  const { path, takesBody = false, methods, auth } = operation;
  request.takesBody = takesBody;
  record.route = path;
  service.hooks.onRequest(request, operation);
  record.traceId = (record.span ?? trace)?.traceId;
  // A body on a GET has no meaning, and can smuggle a request past a proxy (RFC 9110, section 9.3.1). An unknown path and a wrong
  // method are reported first.
  if (hasBody(req) && !takesBody && methods.length > 0) {
    throw errorWithDetail('invalid_request', 'This request must not have a body.');
  }
  // An operation without authentication costs no more than a rejection, and a probe must not fail because an instance is busy.
  if (auth !== 'none') request.caller = await authenticate(request, auth === 'optional');
  request.response = await operation.respond(request, request.caller);
}

/** Returns the caller; `undefined` for a request without a credential where that `isOptional`. */
async function authenticate(request: HttpRequest<Service>, isOptional: boolean): Promise<Caller | undefined> {
  const { record, trace, address, credentials, service } = request;
  const { hooks, forwardedHeaders } = service;
  const { requestId, span } = record;
  hooks.preAuthenticate(request);
  if (isOptional && credentials.authorization.length === 0) {
    hooks.countAgainstLimits(request, undefined);
    return undefined;
  }
  const identity = await service.authenticate(credentials.authorization, (key) => hooks.preVerify(request, key));
  record.callerKey = identity.credentialKey;
  hooks.onCaller(record, identity);
  hooks.countAgainstLimits(request, identity);
  return {
    ...identity,
    address: identity.verified === undefined ? address : undefined,
    headerCredentials: credentials.headerCredentials,
    forwarded: forwardedHeaders.length === 0 ? undefined : linesOf(request, forwardedHeaders),
    requestId,
    trace: (span ?? trace)?.headers,
    span,
  };
}

/** Returns all lines of these headers, which Node joins in `headers`. */
function linesOf({ req: { headersDistinct } }: HttpRequest, names: readonly string[]): Caller['forwarded'] {
  return new Map(names.map((name) => [name, headersDistinct[name] ?? []] as const).filter(([, all]) => all.length > 0));
}
