import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than anything that Portico keeps for a while: idle connections to its upstreams, 4 s. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 300;

export interface Inside {
  /** Bytes of its JavaScript, of its buffers and of the rest of what its objects hold, after a collection. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Sockets, timers and requests that keep it going, in words of Node's, sorted. */
  readonly active: readonly string[];
  /** Open sockets, including listeners; `undefined` if the system does not report them. */
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

/** What a process holds once it holds no more sockets, timers and requests than `before`; or after a long wait. */
export async function settle(folder: string, before: Inside): Promise<Inside> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const inside = await lookInside(folder);
    if (leftovers(inside, before).length === 0 || Date.now() > until) return inside;
    await sleep(PAUSE_MS);
  }
}

/** What a process holds more than it did `before`, in words. */
export function leftovers(inside: Inside, before: Inside): readonly string[] {
  const rest = [...inside.active];
  for (const kind of before.active) {
    const index = rest.indexOf(kind);
    if (index >= 0) rest.splice(index, 1);
  }
  // A batch of log lines on its way out, which comes and goes.
  const active = rest.filter((kind) => kind !== 'FSReqCallback');
  const sockets = (inside.sockets ?? 0) - (before.sockets ?? 0);
  return sockets > 0 ? [...active, `${sockets} sockets`] : active;
}
