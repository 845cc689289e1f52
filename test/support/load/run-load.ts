import { setTimeout as sleep } from 'node:timers/promises';
import { createMistakes, type LoadCaller, type LoadedResource, type Read, requestOf } from './callers.ts';
import { createJudge, type RefusedAt } from './judge.ts';
import { type KeptConnection, openKeptConnection } from './kept-connection.ts';

/** Connections of one caller, so that some of its reads come at the same time. */
const CONNECTIONS = 2;
/** One request in so many is left by its caller before it is answered. */
const HANG_UP = 60;
const HANG_UP_MS = 4;
const GOOD: ReadonlySet<string> = new Set(['ok', 'not_modified']);
const PAUSE_MS = 50;

/** Projects are read seldom: they are never stored, so that each read costs as much as many of the others. */
const CYCLE = 13;

type Fate =
  | { readonly kind: 'answered'; readonly outcome: string }
  | { readonly kind: 'left' }
  /** The connection was closed, after so many bytes of a response. */
  | { readonly kind: 'closed'; readonly bytes: number };

export type Load = ReturnType<typeof startLoad>;

export interface LoadOptions {
  readonly url: string;
  readonly callers: readonly LoadCaller[];
  readonly refusedAt: RefusedAt;
  /** Begins the id of every request. */
  readonly name: string;
}

/** Callers that ask one thing after the other, each over connections that it keeps. */
export function startLoad({ url, callers, refusedAt, name }: LoadOptions) {
  const judge = createJudge(refusedAt);
  const fates = new Map<string, Fate>();
  const { mistakes, report } = createMistakes();
  const waiting = new Map<string, KeptConnection>();
  let stopping = false;
  let withering = false;

  /** Covers all parts of a request, in every combination. */
  function nextRead(caller: LoadCaller, line: number, number: number): Read {
    const resource = resourceOf(number + caller.index);
    const { given, refusedAt } = judge.memoryOf({ caller, resource });
    return {
      caller,
      resource,
      requestId: `${name}-${caller.index}-${line}-${number}`,
      noCache: number % 17 === 0,
      known: number % 5 === 0 ? given : undefined,
      coding: ([undefined, undefined, 'gzip', 'zstd'] as const)[number % 4],
      begunAt: performance.now(),
      refusedAt,
    };
  }

  async function ask(connection: KeptConnection, read: Read, leaves: boolean): Promise<Fate> {
    let left = false;
    const leave = () => {
      left = true;
      connection.hangUp();
    };
    const leaving = leaves ? setTimeout(leave, HANG_UP_MS) : undefined;
    const ending = connection.send(requestOf(read));
    waiting.set(read.requestId, connection);
    const ended = await ending;
    waiting.delete(read.requestId);
    clearTimeout(leaving);
    if (ended.response === undefined) return left ? { kind: 'left' } : { kind: 'closed', bytes: ended.bytes };
    try {
      return { kind: 'answered', outcome: judge.outcomeOf(read, ended.response) };
    } catch (error) {
      report(`${read.resource}, ${read.requestId}: ${error instanceof Error ? error.message : error}`);
      return { kind: 'answered', outcome: 'wrong' };
    }
  }

  /** One connection after the other, one request after the other. */
  async function run(caller: LoadCaller, line: number): Promise<void> {
    const onMistake = (mistake: string) => report(`caller ${caller.index}: ${mistake}`);
    let connection = openKeptConnection(url, onMistake);
    for (let number = 0; !stopping; number += 1) {
      if (!connection.open) {
        if (withering) return;
        connection = openKeptConnection(url, onMistake);
      }
      const read = nextRead(caller, line, number);
      const leaves = !withering && (number + caller.index * 7) % HANG_UP === HANG_UP - 1;
      const fate = await ask(connection, read, leaves);
      fates.set(read.requestId, fate);
      // After a 503 the caller reads something else a little later.
      if (fate.kind !== 'answered' || !GOOD.has(fate.outcome)) await sleep(PAUSE_MS);
    }
    connection.hangUp();
  }

  const runs = callers.flatMap((caller) => Array.from({ length: CONNECTIONS }, (_, line) => run(caller, line)));
  return {
    fates,
    mistakes,
    /** Requests sent whole, not answered yet, on connections that have brought a response before. */
    owed: () => [...waiting].filter(([, { answered, open }]) => answered && open).map(([id]) => id),
    /** Lets every request be answered, and closes the connections. */
    async stop() {
      stopping = true;
      await Promise.all(runs);
    },
    /** Stops new connections and disconnects; resolves once the server has closed every connection. */
    async wither() {
      withering = true;
      await Promise.all(runs);
    },
  };
}

function resourceOf(number: number): LoadedResource {
  if (number % CYCLE === 0) return 'projects';
  return number % 2 === 0 ? 'tools' : 'workflows';
}
