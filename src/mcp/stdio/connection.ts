import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { nameError } from '../../observability/causes.ts';
import { createServerFactory, type ServerOptions } from '../server.ts';
import { createStdioTransport, type StdioTransportOptions } from './transport.ts';

export interface StdioOptions extends ServerOptions, Omit<StdioTransportOptions, 'maxBytes'> {
  /** Longest message that is read. */
  readonly maxBodyBytes: number;
}

/** MCP over a pair of streams, for one client. */
export interface StdioConnection {
  /** Reads no more, and closes once what was begun is answered, or `graceMs` have passed. */
  drain(graceMs: number): void;
  /** Resolves when it is closed, with whether every request was answered: the input ended, or it was drained. */
  readonly closed: Promise<boolean>;
}

/** Begins to answer. The opening of the client decides on the era. */
export function openStdio(options: StdioOptions): StdioConnection {
  const { logger } = options;
  const createServer = createServerFactory(options);
  const transport = createStdioTransport({ ...options, maxBytes: options.maxBodyBytes });
  const { promise: closed, resolve } = Promise.withResolvers<boolean>();
  let cut = false;
  const handle = serveStdio(
    ({ era }) => {
      transport.era = era;
      return createServer(era, transport.askOf);
    },
    { transport, onerror: (error) => logger.debug({ error: nameError(error) }, 'refused by the SDK') },
  );
  transport.onDrained = () => {
    handle.close();
  };
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    resolve(!cut);
  };
  return {
    closed,
    drain(graceMs) {
      transport.drain();
      const timer = setTimeout(() => {
        cut = true;
        handle.close();
      }, graceMs);
      closed.finally(() => clearTimeout(timer));
    },
  };
}
