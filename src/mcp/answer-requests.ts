import type { JSONRPCMessage, JSONRPCRequest, Server, Transport } from '@modelcontextprotocol/server';
import { heeding } from '../kernel/deadline.ts';

/**
 * Has a server of the older era answer requests that came in one body, and gives the answers. The SDK's own transport
 * would open an event stream for each, or leave whoever waits for JSON waiting where the caller hangs up.
 *
 * Rejects when `signal` aborts, and aborts what the server is doing.
 */
export async function answerRequests(
  server: Server,
  requests: readonly JSONRPCRequest[],
  signal: AbortSignal,
): Promise<JSONRPCMessage[]> {
  const { promise, resolve } = Promise.withResolvers<JSONRPCMessage[]>();
  const answers: JSONRPCMessage[] = [];
  const transport: Transport = {
    async start() {},
    async send(message) {
      if ('method' in message) return;
      answers.push(message);
      if (answers.length === requests.length) resolve(answers);
    },
    async close() {
      transport.onclose?.();
    },
  };
  await server.connect(transport);
  try {
    return await heeding(signal, () => {
      for (const request of requests) transport.onmessage?.(request);
      return promise;
    });
  } finally {
    await server.close();
  }
}
