import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import type { RawResponse } from '../platform/raw-response.ts';
import { get, openConnection } from '../raw-http.ts';
import { callOf, postText, readOf } from '../rpc.ts';
import { LOADED, type Loaded, listFor, tokenFor } from './callers.ts';

/** Codes that flapping platforms cause. */
export const CAUSED: readonly ErrorCode[] = [
  ...(['credential_rejected', 'access_denied', 'upstream_refused', 'upstream_failed'] as const),
  ...(['upstream_invalid', 'upstream_timeout', 'upstream_rate_limited', 'breaker_open'] as const),
];
/** Every other code is a mistake. */
const EXPECTED: ReadonlySet<string> = new Set<ErrorCode>([...CAUSED, 'overloaded', 'draining']);

/** One request in so many is left by its caller before it is answered. */
const HANG_UP = { oneIn: 60, afterMs: 4 };
const PAUSE_MS = 50;

export interface LoadOptions {
  readonly url: string;
  /** Names of callers, each of whom asks one thing after the other over each of its two connections. */
  readonly callers: readonly string[];
  /** What they read. @default all, over both edges and in all ways, and some leave */
  readonly only?: Loaded;
  readonly pauseMs?: number;
}

type Fate =
  | { readonly kind: 'answered'; readonly outcome: string }
  | { readonly kind: 'left' }
  /** The connection was closed, after so many bytes of a response. */
  | { readonly kind: 'closed'; readonly bytes: number };

interface Request {
  readonly text: string;
  /** The outcome in a word, as the log has it; throws where the response is wrong. */
  readonly judge: (response: RawResponse) => string;
}

/** Longest that a response may take, whatever the upstreams do. Far longer than any deadline in the settings of a load. */
const PATIENCE_MS = 50_000;

type KeptConnection = ReturnType<typeof openKeptConnection>;

/** One connection that is kept, for one request at a time. `onMistake` is called for a missing response, and for bytes of none. */
function openKeptConnection(url: string, onMistake: (mistake: string) => void) {
  const { socket, send, receive, arrived, unfinished } = openConnection(url);
  const state = { open: true, answered: false };
  let waiting = false;
  socket.setTimeout(PATIENCE_MS, () => {
    if (waiting) onMistake('no response');
    socket.destroy();
  });
  socket.on('close', () => {
    state.open = false;
  });
  return Object.assign(state, {
    /** Gives the response; without one, the connection has ended after so many bytes of it. */
    async send(request: string) {
      if (arrived().length > 0) onMistake('a response to no request');
      waiting = true;
      send(request);
      const response = await receive().catch(() => undefined);
      waiting = false;
      const bytes = unfinished().length;
      if (response === undefined) return { response, bytes };
      state.answered = true;
      if (response.headers.get('connection') === 'close') state.open = false;
      if (bytes > 0) onMistake('bytes that belong to no response');
      return { response, bytes };
    },
    hangUp() {
      state.open = false;
      socket.destroy();
    },
  });
}

export function startLoad({ url, callers, only, pauseMs = 0 }: LoadOptions) {
  /** What became of each request, by its id. */
  const fates = new Map<string, Fate>();
  const counts: Record<string, number> = {};
  const mistakes: string[] = [];
  const report = (mistake: string) => void (mistakes.length < 20 && mistakes.push(mistake));
  const waiting = new Map<string, KeptConnection>();
  const tags = new Map<string, string>();
  let stopping = false;
  let withering = false;

  function readBy(name: string, requestId: string, number: number): Request {
    const resource = only ?? LOADED[number % 13 === 0 ? 0 : 1 + (number % 2)] ?? 'tools';
    const key = `${name} ${resource}`;
    const known = number % 5 === 0 && only === undefined ? tags.get(key) : undefined;
    const fields = {
      Authorization: `Bearer ${tokenFor(name)}`,
      'X-Request-Id': requestId,
      ...(number % 17 === 0 && only === undefined && { 'Cache-Control': 'no-cache' }),
      ...(known !== undefined && { 'If-None-Match': known }),
      ...(number % 4 === 0 && { 'Accept-Encoding': 'gzip' }),
    };
    return {
      text: get(`/mcp/v1/resources/read?uri=platform://${resource}`, fields),
      judge({ status, headers, body }) {
        if (headers.get('x-request-id') !== requestId) throw new Error("another request's response");
        const tag = headers.get('etag') ?? '';
        if (status === 304 && tag === known) return 'not_modified';
        if (status !== 200) return codeIn(status, headers, body, requestId);
        const text = headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body;
        if (text.toString() !== JSON.stringify(listFor(name, resource))) throw new Error("not the caller's own list");
        if (tag !== (tags.get(key) ?? tag)) throw new Error('one list with two tags');
        tags.set(key, tag);
        return 'ok';
      },
    };
  }

  function messageBy(name: string, requestId: string, number: number): Request {
    const [message, token] = [
      [readOf('workflows'), tokenFor(name)],
      [callOf('list_installed_tools', { query: 'item' }), tokenFor(name)],
      [callOf('list_projects', { query: '-1' }), tokenFor(name)],
      // A token that is nobody's, by its list, which is empty to no caller.
      [readOf('tools'), tokenFor(`stranger-${number}`)],
    ][number % 4] as [object, string];
    return {
      text: postText(message, { Authorization: `Bearer ${token}`, 'X-Request-Id': requestId }),
      judge({ body }) {
        const text = body.toString();
        const names = new Set(
          [...text.matchAll(/"id\\?":\\?"([\w-]+)-(?:projects|workflows|tools)-\d+/g)].map(([, of]) => of),
        );
        names.delete(token === tokenFor(name) ? name : `stranger-${number}`);
        if (names.size > 0) throw new Error(`a list of ${[...names].join()}`);
        if (text.includes('"internal"')) throw new Error(text.slice(0, 300));
        return 'message';
      },
    };
  }

  async function ask(connection: KeptConnection, id: string, { text, judge }: Request, leaves: boolean): Promise<Fate> {
    let left = false;
    const leave = () => {
      left = true;
      connection.hangUp();
    };
    const leaving = leaves ? setTimeout(leave, HANG_UP.afterMs) : undefined;
    waiting.set(id, connection);
    const { response, bytes } = await connection.send(text);
    waiting.delete(id);
    clearTimeout(leaving);
    if (response === undefined) return left ? { kind: 'left' } : { kind: 'closed', bytes };
    try {
      return { kind: 'answered', outcome: judge(response) };
    } catch (error) {
      report(`${id}: ${response.status} ${error}`);
      return { kind: 'answered', outcome: 'wrong' };
    }
  }

  /** One connection after the other, one request after the other. */
  async function run(name: string, index: number, line: number): Promise<void> {
    const open = () => openKeptConnection(url, (mistake) => report(`${name}: ${mistake}`));
    let connection = open();
    for (let number = 0; !stopping; number += 1) {
      if (!connection.open) {
        if (withering) return;
        connection = open();
      }
      const id = `${name}-${only ?? ''}-${line}-${number}`;
      const turn = number + index;
      const isMessage = only === undefined && turn % 8 === 7;
      const request = (isMessage ? messageBy : readBy)(name, id, isMessage ? Math.floor(turn / 8) : turn);
      const leaves = only === undefined && !withering && turn % HANG_UP.oneIn === HANG_UP.oneIn - 1;
      const fate = await ask(connection, id, request, leaves);
      fates.set(id, fate);
      const word = fate.kind === 'answered' ? fate.outcome : fate.kind;
      counts[word] = (counts[word] ?? 0) + 1;
      // After a 503 the caller reads something else a little later.
      await sleep(['ok', 'not_modified', 'message'].includes(word) ? pauseMs : PAUSE_MS);
    }
    connection.hangUp();
  }

  const lines = only === undefined ? [0, 1] : [0];
  const runs = callers.flatMap((name, index) => lines.map((line) => run(name, index, line)));
  return {
    fates,
    /** How many requests ended in which way: in an outcome, or `left`, or `closed`. */
    counts: counts as Readonly<Record<string, number>>,
    mistakes: mistakes as readonly string[],
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

/** The code of a problem that belongs to the request and to the table. */
function codeIn(status: number, headers: Headers, body: Buffer, requestId: string): string {
  const problem = JSON.parse(body.toString());
  const row = ERRORS[problem.code as ErrorCode];
  const fits = problem.status === status && row?.status === status && problem.requestId === requestId;
  if (!fits || !EXPECTED.has(problem.code) || headers.get('cache-control') !== 'no-store') {
    throw new Error(`with a problem that does not belong to it: ${JSON.stringify(problem)}`);
  }
  if ('retryAfterSeconds' in row && !Number(headers.get('retry-after')))
    throw new Error(`${problem.code} without Retry-After`);
  return problem.code;
}
