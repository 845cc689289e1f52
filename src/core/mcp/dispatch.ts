import { performance } from 'node:perf_hooks';
import { type Challenge, errorWithDetail, GatewayError } from '../kernel/errors.ts';
import { createRecordedRead } from '../reads/catalogue/recorded-read.ts';
import { type JSONRPCRequest, loggedMethod, type RequestId } from './message.ts';
import { createMethods, type MethodsOptions } from './methods.ts';
import type {
  Pieces,
  ReadResource,
  RequestContext,
  Result,
  SendNotification,
  StreamResult,
} from './request-context.ts';
import { CURRENT, META, type Revision } from './revisions.ts';
import { createChallengeFor, createRecordError, rpcCodeOf, writeError } from './rpc-errors.ts';

export interface DispatchOptions extends Omit<MethodsOptions, 'readResource' | 'recordError' | 'challengeFor'> {
  /** Wraps the dispatch of each request. @default nothing is wrapped */
  readonly wrapDispatch?: (dispatch: Dispatch) => Dispatch;
  /** The HTTP challenge for clients that can obtain another token. @default none */
  readonly challenge?: Challenge | undefined;
}

/** The response to a request. */
export interface Dispatched {
  /** Over HTTP. */
  readonly status: number;
  readonly response: Pieces;
  readonly challenge?: string | undefined;
  /** Present where notifications are sent first, and `response` is empty. Resolves with the response; rejects when the client is gone. */
  readonly stream?: ((send: SendNotification) => Promise<Pieces>) | undefined;
  /** For logs and traces, as the event `operationEnded` has it. */
  readonly ended: {
    readonly rpc: string;
    readonly tool: string | undefined;
    readonly error: OperationError | undefined;
  };
}

/** Code of the JSON-RPC error, `tool_error` for a result with `isError`, or `cancelled` where the client has left. */
type OperationError = number | 'tool_error' | 'cancelled';

/** Rejects like an aborted read. */
export type Dispatch = (request: JSONRPCRequest, revision: Revision, context: RequestContext) => Promise<Dispatched>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { events, wrapDispatch = (inner) => inner } = options;
  const recordError = createRecordError(events);
  const challengeFor = createChallengeFor(options.challenge);
  const readResource = createReadResource(options);
  const { server, methods, tools } = createMethods({ ...options, readResource, recordError, challengeFor });
  const writeResult = createWriteResult(server);

  /** Holds nothing of the parameters, which may be long. */
  function streamOf({ stream }: StreamResult, id: RequestId, revision: Revision, context: RequestContext) {
    return async (send: SendNotification) => {
      try {
        return writeResult(await stream(send), revision, id);
      } catch (thrown) {
        if (context.signal.aborted) throw thrown;
        return [writeError(recordError(thrown, context), { id }, context.record.requestId, revision)];
      }
    };
  }

  return wrapDispatch(async (request, revision, context) => {
    const { id, method, params = {} } = request;
    const startedAt = performance.now();

    function end(error?: OperationError): Dispatched['ended'] {
      const tool = method === 'tools/call' && tools.has(params['name']) ? String(params['name']) : undefined;
      const ended = { rpc: loggedMethod(request), tool, error };
      events.operationEnded?.({
        ...ended,
        revision: context.record.client?.revision,
        ms: performance.now() - startedAt,
      });
      return ended;
    }

    try {
      const handle = methods[revision].get(method);
      if (handle === undefined) throw errorWithDetail('not_found', 'This method does not exist.');
      const result = await handle(params, context, id);
      if ('stream' in result)
        return { status: 200, response: [], ended: end(), stream: streamOf(result, id, revision, context) };
      const response = writeResult(result, revision, id);
      return { status: 200, response, ended: end(result.isError ? 'tool_error' : undefined) };
    } catch (thrown) {
      if (context.signal.aborted) {
        end('cancelled');
        throw thrown;
      }
      const error = recordError(thrown, context);
      const challenge = challengeFor(error);
      // Since 2026-07-28 an unknown method is also an HTTP status.
      const isHttpError = challenge !== undefined || (error.code === 'not_found' && revision === CURRENT);
      const response = [writeError(error, request, context.record.requestId, revision)];
      return {
        ...{ status: isHttpError ? error.status : 200, challenge, response },
        ended: end(rpcCodeOf(error, revision)),
      };
    }
  });
}

function createReadResource({ catalogue, now }: Pick<DispatchOptions, 'catalogue' | 'now'>): ReadResource {
  const read = createRecordedRead(catalogue, now);
  return async (name, context) => {
    if (context.caller === undefined) throw new GatewayError('credential_missing');
    return read(name, context.caller, context);
  };
}

/** The response's own members come first, in one piece. Since 2026-07-28 each result names its server. */
function createWriteResult(server: object) {
  const serverMember = JSON.stringify({ [META.server]: server }).slice(1, -1);
  return ({ meta = '', jsonHead = '', jsonTail }: Result, revision: Revision, id: RequestId): Pieces => {
    let members = meta === '' ? '' : `"_meta":{${meta}}`;
    if (revision === CURRENT) members = `"resultType":"complete","_meta":{${serverMember}${meta && `,${meta}`}}`;
    // Without any, the tail is the end of the response.
    const separator = members !== '' && (jsonHead !== '' || jsonTail !== '}}') ? ',' : '';
    const idJson = typeof id === 'number' ? id : JSON.stringify(id);
    return [`{"jsonrpc":"2.0","id":${idJson},"result":{${members}${separator}${jsonHead}`, jsonTail];
  };
}
