import type { Authenticate, Identity } from '../credentials/authenticate.ts';
import { redactCredentials } from '../credentials/redact.ts';
import type { Caller, RequestRecord } from '../kernel/caller.ts';
import { GatewayError, stackOf } from '../kernel/errors.ts';
import { type Events, emitLimitReached } from '../kernel/events.ts';
import type { Users } from '../kernel/tables.ts';
import type { Connections } from './connection/connections.ts';
import type { Exchange } from './exchange.ts';
import type { HttpRequest } from './http-request.ts';
import type { Operation } from './operations/operation.ts';
import type { createAdmit } from './request/admit.ts';
import { discardBody } from './request/incoming-body.ts';
import { credentialsIn } from './request/request-head.ts';
import { type Challenge, problemResponse } from './response/problem.ts';
import { type HttpResponse, type StreamBody, send, sendStream } from './response/send.ts';

/** Answers an exchange with its operation. Never throws. */
export type Handle = (exchange: Exchange, operation: Operation) => Promise<void>;

/**
 * Fixed places on the way of a request to the public listener, in the order in which a request passes them. A hook rejects a
 * request by throwing, or rejecting with, a `GatewayError`, except where it says otherwise.
 */
export interface RequestHooks {
  /** The operation was found; nothing has been checked. Must not throw. */
  onRequest(request: HttpRequest, operation: Operation): void;
  /** Method, host and origin were checked; the credential has not been read. Not called for operations open to all. */
  preAuthenticate(request: HttpRequest): Promise<void> | void;
  /** The credential is well formed and has this key; it has not been verified. */
  preVerify(request: HttpRequest, callerKey: string): Promise<void> | void;
  /** The caller is known. Over stdio it is called for each message. Must not throw. */
  onCaller(record: RequestRecord, identity: Identity): void;
  /** Counts a request against the limits of a caller, or of a client without a credential. */
  spend(request: HttpRequest, caller: Pick<Caller, 'credentialKey' | 'verified'> | undefined): Promise<void> | void;
  /** The response was sent, or the client is gone. Must not throw. */
  onSettled(request: HttpRequest): void;
}

/** Hooks that do nothing. */
export const NO_REQUEST_HOOKS: RequestHooks = {
  onRequest() {},
  preAuthenticate() {},
  preVerify() {},
  onCaller() {},
  spend() {},
  onSettled() {},
};

export interface HandlerOptions {
  readonly admit: ReturnType<typeof createAdmit>;
  readonly authenticate: Authenticate;
  readonly hooks: RequestHooks;
  /** Counts the exchanges that it answers. @default not counted */
  readonly users?: Pick<Users, 'enter' | 'leave'> | undefined;
  /** @default one that names no place to obtain a token */
  readonly challenge?: Challenge | undefined;
  readonly connections: Connections;
  readonly events: Events;
  /** Sent with every response, alternating names and values. @default none */
  readonly headers?: readonly string[] | undefined;
  readonly ending: AbortSignal;
  /** Time in which a client takes each piece of a stream. */
  readonly sendTimeoutMs: number;
}

/** admit → authenticate → operation → send. A thrown error is answered with its row of the error table; a bug is `internal`. */
export function createHandler(options: HandlerOptions): Handle {
  const { admit, authenticate, hooks, users, challenge, connections, events, headers, ending } = options;

  // A promise is awaited only where there is one: without limits and shedding, that is 4 % of a cached read.
  return async function handle(exchange, operation) {
    exchange.route = operation.path;
    exchange.takesBody = operation.takesBody;
    exchange.vary = operation.vary;
    exchange.ending = ending;
    if (!connections.begin(exchange)) return;
    hooks.onRequest(exchange, operation);
    exchange.users = users;
    users?.enter();
    const turn = connections.waitForSlot(exchange);
    if (turn !== undefined) await turn;
    if (exchange.gone) return;
    try {
      admit(exchange, operation);
      // Open operations cost no more than a rejection, and a probe must not fail because an instance is busy.
      if (operation.open !== true) {
        const ready = hooks.preAuthenticate(exchange);
        if (ready !== undefined) await ready;
      }
      let response: HttpResponse;
      if (operation.open === true) response = await operation.respond(exchange);
      else if (operation.open === 'partly' && exchange.fields.authorization.length === 0) {
        await hooks.spend(exchange, undefined);
        response = await operation.respond(exchange, undefined);
      } else {
        const identity = await authenticate(exchange.fields.authorization, exchange.span, (key) =>
          hooks.preVerify(exchange, key),
        );
        const spent = identify(exchange, identity);
        if (spent !== undefined) await spent;
        response = await operation.respond(exchange, callerOf(exchange, identity));
      }
      respond(exchange, response);
    } catch (error) {
      await refuse(exchange, error, operation);
    }
    hooks.onSettled(exchange);
  };

  function identify(exchange: Exchange, identity: Identity): Promise<void> | void {
    exchange.callerKey = identity.credentialKey;
    hooks.onCaller(exchange, identity);
    return hooks.spend(exchange, identity);
  }

  function respond(exchange: Exchange, response: HttpResponse): void {
    if (exchange.gone) return;
    exchange.outcome = exchange.error?.code ?? (response.status === 304 ? 'not_modified' : 'ok');
    send(exchange, withHeaders(response, headers), connections.isLast(exchange));
    if (typeof response.body === 'function') stream(exchange, response.body);
    else connections.sent(exchange);
  }

  function stream(exchange: Exchange, body: StreamBody): void {
    const abort = () => connections.abort(exchange, 'response_unread');
    sendStream(exchange, body, options.sendTimeoutMs, abort).catch((error) => {
      if (exchange.gone) return;
      reportBug(exchange, error);
      connections.abort(exchange, 'internal');
    });
  }

  async function refuse(exchange: Exchange, thrown: unknown, operation: Operation): Promise<void> {
    if (exchange.gone) return;
    exchange.endWaiting();
    const error = thrown instanceof GatewayError ? thrown : new GatewayError('internal', { cause: thrown });
    if (error.code === 'internal') reportBug(exchange, thrown);
    exchange.error = error;
    emitLimitReached(events, error, exchange);
    // A response that has begun is cut off, so that it cannot pass for a whole one.
    if (exchange.res.headersSent) return connections.abort(exchange, 'internal');
    try {
      if (exchange.hasBody && !exchange.req.readableEnded) await discardBody(exchange);
      const { requestId } = exchange;
      const refused = error.code === 'rate_limited' ? operation.refuseRate?.(error, requestId) : undefined;
      respond(exchange, (await refused) ?? problemResponse(error, requestId, challenge));
    } catch (again) {
      if (again !== thrown) reportBug(exchange, again);
      connections.abort(exchange, 'internal');
    }
  }

  function reportBug({ requestId, traceId, fields }: Exchange, thrown: unknown): void {
    const stack = redactCredentials(stackOf(thrown), credentialsIn(fields));
    events.internalError?.({ requestId, traceId, stack });
  }
}

function callerOf({ requestId, trace, span, fields, address }: Exchange, identity: Identity): Caller {
  const { credential, credentialKey, cacheScope, expiresAt, verified } = identity;
  return {
    credential,
    credentialKey,
    cacheScope,
    expiresAt,
    verified,
    address: verified === undefined ? address : undefined,
    others: fields.others,
    requestId,
    trace: (span ?? trace)?.headers,
    span,
  };
}

function withHeaders(response: HttpResponse, headers: readonly string[] | undefined): HttpResponse {
  return headers === undefined ? response : { ...response, headers: [...response.headers, ...headers] };
}
