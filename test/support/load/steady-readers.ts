import { setTimeout as sleep } from 'node:timers/promises';
import type { RawResponse } from '../platform/raw-response.ts';
import { get } from '../raw-http.ts';
import { listFor, tokenFor } from './attack-platform.ts';
import { createMistakes } from './callers.ts';
import { openKeptConnection } from './kept-connection.ts';

const READERS = 6;
/** Pause between two reads of one reader, by resource. Only tools come from the cache. */
const PAUSE_MS = { tools: 20, projects: 100 } as const;

type Resource = keyof typeof PAUSE_MS;

/** How many reads were answered with each code of the table; `ok` for a list. */
export type Reads = Record<string, number>;

/** Callers who read at a steady pace, each over connections of its own, and who know what they have to be given. */
export function startReaders(url: string) {
  const { mistakes, report } = createMistakes();
  const reads: Record<Resource, Reads> = { tools: {}, projects: {} };
  let stopping = false;

  async function run(index: number, resource: Resource): Promise<void> {
    const name = `honest-${index}`;
    const expected = Buffer.from(JSON.stringify(listFor(name, resource)));
    const who = `${name}, ${resource}`;
    const connection = openKeptConnection(url, (mistake) => report(`${who}: ${mistake}`));
    for (let number = 0; !stopping; number += 1) {
      const requestId = `${name}-${resource}-${number}`;
      const fields = { Authorization: `Bearer ${tokenFor(name)}`, 'X-Request-Id': requestId };
      const request = get(`/mcp/v1/resources/read?uri=platform://${resource}`, fields);
      const { response } = await connection.send(request);
      if (response === undefined) return report(`${who}: the connection was closed`);
      const outcomes = reads[resource];
      const outcome = outcomeOf(response, requestId, expected);
      if (outcome === undefined) report(`${who}: wrong: ${response.status} ${response.body.toString().slice(0, 200)}`);
      else outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      await sleep(PAUSE_MS[resource]);
    }
    connection.hangUp();
  }

  const readers = Array.from({ length: READERS }, (_, index) => [run(index, 'tools'), run(index, 'projects')]);
  return {
    /** Whatever is none of an error of the table and the caller's own list to the byte. */
    mistakes,
    async stop() {
      stopping = true;
      await Promise.all(readers.flat());
      return reads;
    },
  };
}

function outcomeOf({ status, headers, body }: RawResponse, requestId: string, expected: Buffer): string | undefined {
  if (headers.get('x-request-id') !== requestId) return undefined;
  if (status === 200) return body.equals(expected) ? 'ok' : undefined;
  return status < 500 ? undefined : JSON.parse(body.toString()).code;
}
