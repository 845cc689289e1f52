import { setTimeout as sleep } from 'node:timers/promises';
import { callOf, postText, readOf } from '../rpc.ts';
import { createMistakes, type LoadCaller, TOKEN_BEGINS, TOKEN_ENDS } from './callers.ts';
import { type KeptConnection, openKeptConnection } from './kept-connection.ts';

const PAUSE_MS = 5;
const HANG_UP_MS = 3;
/** Every id of a list begins with its caller's mark. */
const MARKS = /([0-9a-f]{12})-(?:projects|workflows|tools)-\d+/g;

interface Question {
  /** @default the caller's own */
  readonly authorization?: string;
  readonly body: unknown;
  /** Whether the caller hangs up soon. */
  readonly leaves?: boolean;
}

const call = (id: number, name: string, args: object) => ({ ...callOf(name, args), id });
let strangers = 0;

const QUESTIONS: readonly ((caller: LoadCaller) => Question)[] = [
  () => ({ body: readOf('workflows') }),
  () => ({ body: call(1, 'list_installed_tools', { query: 'edition' }) }),
  () => ({
    body: [
      readOf('tools', 1),
      call(2, 'list_installed_workflows', { limit: 3 }),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      call(3, 'list_projects', { query: '-1' }),
    ],
  }),
  () => ({ body: readOf('projects'), leaves: true }),
  // Nobody's token, and what is none.
  () => ({ authorization: `Bearer ${TOKEN_BEGINS}-stranger-${strangers++}-${TOKEN_ENDS}`, body: readOf('tools') }),
  ({ token }) => ({ authorization: `Basic ${token}`, body: readOf('tools') }),
];

/** Callers of MCP under load, who use one connection each. */
export function startRpcCallers({ url, callers }: { url: string; callers: readonly LoadCaller[] }) {
  const counts = { listed: 0, failed: 0, left: 0 };
  const { mistakes, report } = createMistakes();
  let stopping = false;

  async function ask(connection: KeptConnection, caller: LoadCaller, question: Question) {
    const own = `Bearer ${caller.token}`;
    const { authorization = own, body, leaves } = question;
    const sending = connection.send(postText(body, { Authorization: authorization }));
    const leaving = leaves ? setTimeout(() => connection.hangUp(), HANG_UP_MS) : undefined;
    const { response } = await sending;
    clearTimeout(leaving);
    if (response === undefined) {
      if (leaves) counts.left += 1;
      else report(`MCP, caller ${caller.index}: the connection was closed`);
      return;
    }
    const marks = new Set([...response.body.toString().matchAll(MARKS)].map(([, mark = '']) => mark));
    if (marks.size > 1 || (marks.size === 1 && !(authorization === own && marks.has(caller.mark)))) {
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
      if (question !== undefined) await ask(connection, caller, question(caller));
      await sleep(PAUSE_MS);
    }
    connection.hangUp();
  }

  const runs = callers.map(run);
  return {
    /** How many requests were answered with a list, how many with an error, and how many were left. */
    counts,
    mistakes,
    /** Lets every request be answered, and closes the connections. */
    async stop() {
      stopping = true;
      await Promise.all(runs);
    },
  };
}
