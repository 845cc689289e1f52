import { connect } from 'node:net';
import { join } from 'node:path';

/** What a process holds. */
export interface Inside {
  /** Bytes of its JavaScript, of its buffers and of the rest of what its objects hold, after a collection. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Sockets, timers and requests that keep it going, in words of Node's, sorted. */
  readonly active: readonly string[];
  /** Open sockets, its listeners included; `undefined` where the system does not tell. */
  readonly sockets?: number;
}

/** The environment in which a process can be looked into, with a socket for it in `folder`. */
export function insideEnvironment(folder: string): Record<string, string> {
  const module = new URL('./inside.ts', import.meta.url);
  return {
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --expose-gc --import ${module.href}`,
    INSIDE_SOCKET: socketIn(folder),
  };
}

/** Looks into a process that was started in {@link insideEnvironment}. */
export async function lookInside(folder: string): Promise<Inside> {
  const socket = connect(socketIn(folder)).setEncoding('utf8');
  let text = '';
  for await (const chunk of socket) text += chunk;
  return JSON.parse(text);
}

function socketIn(folder: string): string {
  return join(folder, 'inside.sock');
}
