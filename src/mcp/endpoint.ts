import type { IncomingHttpHeaders } from 'node:http';
import { classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server';
import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Quote } from '../snapshots/quotes.ts';
import { answerRequests } from './answer-requests.ts';
import type { Ask, Facts } from './ask.ts';
import { isDenial } from './denial.ts';
import { legacyRequests } from './legacy.ts';
import { idOf, parseMessage } from './message.ts';
import { methodWord } from './methods.ts';
import { createRepeater } from './repeat/repeat.ts';
import { finished, rpcErrorOf } from './rpc-error.ts';
import { inbound, jsonAnswer, type McpAnswer, type WholeAnswer, webRequest, wholeAnswer } from './sdk-http.ts';
import { createServerFactory, type ServerOptions } from './server.ts';

/** A `POST` whose credential and body have been read. */
export interface McpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly caller: Caller;
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  /** The caller wants the upstream to be asked. */
  readonly noCache: boolean;
  readonly note: (facts: Facts) => void;
  readonly logBug: (error: unknown) => void;
}

export interface McpEndpoint {
  /**
   * Answers whatever the body is. Throws a `GatewayError` for what HTTP itself has to say: that the platform refuses
   * the caller's credential, or denies it the resource. Rejects when the caller hangs up.
   */
  answer(request: McpRequest): Promise<McpAnswer>;
}

export interface McpEndpointOptions extends ServerOptions {
  /** What answers that the SDK need not make are made with. @default the SDK makes all */
  readonly quote?: Quote | undefined;
}

/** JSON-RPC over Streamable HTTP, stateless, in both eras of the protocol. */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const createServer = createServerFactory(options);
  const { quote } = options;
  const repeater = quote && createRepeater({ ...options, quote });
  const asks = new WeakMap<Request, Ask>();
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const ask = requestInfo && asks.get(requestInfo);
      if (ask === undefined) throw new Error('a request of nobody');
      return createServer('modern', () => ask);
    },
    { legacy: 'reject' },
  );

  async function answerMessage(message: unknown, { headers, signal }: McpRequest, ask: Ask): Promise<WholeAnswer> {
    const facts = inbound(headers, message);
    const route = classifyInboundRequest(facts);
    if (route.kind !== 'legacy') {
      const request = webRequest(headers, signal);
      asks.set(request, ask);
      return wholeAnswer(await modern.fetch(request, { parsedBody: message }), ask);
    }
    const requests = legacyRequests(message, route, facts.protocolVersionHeader);
    if (requests.length === 0) return { status: 202, headers: {}, body: Buffer.alloc(0) };
    const answers = await answerRequests(
      createServer('legacy', () => ask),
      requests,
      signal,
    );
    const all = answers.map((answer) => finished(answer, 'legacy', ask));
    return jsonAnswer(200, route.reason === 'batch' ? all : all[0]);
  }

  return {
    async answer(request) {
      const { headers, body, caller, noCache, note, logBug } = request;
      const repeated = repeater?.answer({ headers, body, ask: request });
      if (typeof repeated === 'object') return repeated;
      let denial: GatewayError | undefined;
      const ask: Ask = {
        caller,
        noCache,
        logBug,
        note(facts) {
          note(facts);
          if (isDenial(facts.failure)) denial ??= facts.failure;
        },
      };
      let message: unknown;
      try {
        message = parse(body);
        note({ rpc: methodWord(message) });
        const answer = await answerMessage(message, request, ask);
        request.signal.throwIfAborted();
        if (denial !== undefined) throw denial;
        repeated?.(answer, message);
        return answer;
      } catch (error) {
        if (!(error instanceof GatewayError) || isDenial(error)) throw error;
        note({ failure: error });
        return jsonAnswer(error.status, {
          jsonrpc: '2.0',
          id: idOf(message),
          error: rpcErrorOf(error, caller.requestId),
        });
      }
    },
  };
}

function parse(body: Buffer): unknown {
  try {
    return parseMessage(body);
  } catch (cause) {
    throw new GatewayError('parse_error', { cause });
  }
}
