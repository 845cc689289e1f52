import { setTimeout as sleep } from 'node:timers/promises';
import type { RawResponse } from '../platform/raw-response.ts';
import { postText } from '../rpc.ts';
import { type LoadCaller, TOKEN_BEGINS, TOKEN_ENDS } from './callers.ts';
import { type KeptConnection, openKeptConnection } from './kept-connection.ts';

const MAX_MISTAKES = 20;
const PAUSE_MS = 5;
const HANG_UP_MS = 3;
/** Every id of a list begins with its caller's mark. */
const MARKS = /([0-9a-f]{12})-(?:projects|workflows|tools)-\d+/g;

/** Callers of MCP under load, who use one connection each. */
interface RpcCallers {
  /** How many requests were answered with a list, and how many with an error. */
  readonly counts: { listed: number; failed: number; left: number };
  readonly mistakes: readonly string[];
  /** Lets every request be answered, and closes the connections. */
  stop(): Promise<void>;
}

interface Question {
  readonly authorization: string;
  readonly body: unknown;
  /** Whether the caller hangs up soon. */
  readonly leaves?: boolean;
}

const request = (id: number, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params });
const read = (id: number, name: string) => request(id, 'resources/read', { uri: `platform://${name}` });
const call = (id: number, name: string, args: object) => request(id, 'tools/call', { name, arguments: args });

/** What each asks in turn. */
const QUESTIONS: readonly ((caller: LoadCaller, number: number) => Question)[] = [
  ({ token }) => ({ authorization: `Bearer ${token}`, body: read(1, 'workflows') }),
  ({ token }) => ({ authorization: `Bearer ${token}`, body: call(1, 'list_installed_tools', { query: 'edition' }) }),
  ({ token }) => ({
    authorization: `Bearer ${token}`,
    body: [
      read(1, 'tools'),
      call(2, 'list_installed_workflows', { limit: 3 }),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      call(3, 'list_projects', { query: '-1' }),
    ],
  }),
  ({ token }) => ({ authorization: `Bearer ${token}`, body: read(1, 'projects'), leaves: true }),
  // Nobody's token, and what is none.
  (_caller, number) => ({ authorization: `Bearer ${strangerToken(number)}`, body: read(1, 'tools') }),
  ({ token }) => ({ authorization: `Basic ${token}`, body: read(1, 'tools') }),
];

let strangers = 0;

function strangerToken(number: number): string {
  strangers += 1;
  return `${TOKEN_BEGINS}-stranger-${strangers}-${number}-${TOKEN_ENDS}`;
}

export function startRpcCallers({ url, callers }: { url: string; callers: readonly LoadCaller[] }): RpcCallers {
  const counts = { listed: 0, failed: 0, left: 0 };
  const mistakes: string[] = [];
  let stopping = false;
  const report = (mistake: string) => {
    if (mistakes.length < MAX_MISTAKES) mistakes.push(mistake);
  };

  async function ask(connection: KeptConnection, caller: LoadCaller, { authorization, body, leaves }: Question) {
    const sending = connection.send(postText(body, { Authorization: authorization }));
    const leaving = leaves ? setTimeout(() => connection.hangUp(), HANG_UP_MS) : undefined;
    const { response } = await sending;
    clearTimeout(leaving);
    if (response === undefined) {
      if (leaves) counts.left += 1;
      else report(`MCP, caller ${caller.index}: the connection was closed`);
      return;
    }
    const marks = new Set(marksIn(response));
    const isOwn = authorization === `Bearer ${caller.token}`;
    if (marks.size > 1 || (marks.size === 1 && !(isOwn && marks.has(caller.mark)))) {
      report(`MCP, caller ${caller.index}: another's list`);
    }
    if (response.body.includes('"internal"')) report(`MCP, caller ${caller.index}: ${response.body}`);
    if (marks.size === 0) counts.failed += 1;
    else counts.listed += 1;
  }

  async function run(caller: LoadCaller): Promise<void> {
    const onMistake = (mistake: string) => report(`MCP, caller ${caller.index}: ${mistake}`);
    let connection = openKeptConnection(url, onMistake);
    for (let number = 0; !stopping; number += 1) {
      if (!connection.open) connection = openKeptConnection(url, onMistake);
      const question = QUESTIONS[(number + caller.index) % QUESTIONS.length];
      if (question !== undefined) await ask(connection, caller, question(caller, number));
      await sleep(PAUSE_MS);
    }
    connection.hangUp();
  }

  const runs = callers.map(run);
  return {
    counts,
    mistakes,
    async stop() {
      stopping = true;
      await Promise.all(runs);
    },
  };
}

function marksIn({ body }: RawResponse): readonly string[] {
  return [...body.toString().matchAll(MARKS)].map(([, mark = '']) => mark);
}
