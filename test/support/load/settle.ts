import { setTimeout as sleep } from 'node:timers/promises';
import { type Inside, lookInside } from './look-inside.ts';

/** Far longer than anything that Portico keeps for a while: idle connections to its upstreams, 4 s. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 300;

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
