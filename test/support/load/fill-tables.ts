import { createCallers, type LoadCaller, type LoadedResource, requestOf } from './callers.ts';
import { openKeptConnection } from './kept-connection.ts';

/**
 * Of so many callers Portico remembers at most that an upstream knows them, and of as many that it refused them; for each
 * upstream.
 */
const REMEMBERED = 10_000;
/** V8 doubles the table of a map for the last time when its 16,384 places have been used once. */
const COUNT = REMEMBERED * 1.7;
const AT_ONCE = 32;
/** The deadline of these reads is short: a machine that stands still for a moment is asked again. */
const TRIES = 5;

const ASKED: readonly [LoadedResource, LoadedResource] = ['projects', 'tools'];

/** Those who {@link fillTables} asks for: half of them are refused. */
export function createFillers(): readonly LoadCaller[] {
  const count = COUNT * ASKED.length;
  return [...createCallers(count), ...createCallers(count, true)];
}

/** Has each of these callers ask one upstream once. */
export async function fillTables(url: string, fillers: readonly LoadCaller[]): Promise<void> {
  const mistakes: string[] = [];
  const line = fillers.values();

  async function run(): Promise<void> {
    const connection = openKeptConnection(url, (mistake) => mistakes.push(mistake));
    for (const caller of line) {
      const resource = ASKED[caller.index % 2 === 0 ? 0 : 1];
      const rest = { noCache: false, known: undefined, coding: undefined, begunAt: 0, refusedAt: 0 };
      const request = requestOf({ caller, resource, requestId: `filling-${caller.mark}`, ...rest });
      let status: number | undefined;
      for (let tries = 0; tries < TRIES && (tries === 0 || status === 504); tries += 1) {
        status = (await connection.send(request)).response?.status;
      }
      if (status !== (caller.isRefused ? 401 : 200)) mistakes.push(`${resource}: ${status}`);
    }
    connection.hangUp();
  }

  await Promise.all(Array.from({ length: AT_ONCE }, run));
  if (mistakes.length > 0) throw new Error(`the tables were not filled: ${mistakes.slice(0, 5).join(', ')}`);
}
