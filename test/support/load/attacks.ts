import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { get, openConnection } from '../raw-http.ts';
import { postText, rpc } from '../rpc.ts';
import { HOSTILE_PAGES } from './attack-platform.ts';
import { tokenFor } from './callers.ts';

/** What an attack saw, in numbers by what it was. */
type Seen = Record<string, number>;

/** One attack among all. It comes again and again until it is over. */
interface Attack {
  readonly everyMs: number;
  round(scene: AttackScene): Promise<void>;
}

interface AttackScene {
  /** Number of the round, from 0. */
  readonly round: number;
  readonly over: AbortSignal;
  /** Opens a connection that is closed when the round is over. What is done to it is of no interest. */
  open(): Socket;
  /** Sends one request over a new connection and counts the response: its status, and words in it. */
  ask(request: string | Buffer, words?: readonly string[]): Promise<void>;
  count(what: string): void;
}

const READ = '/mcp/v1/resources/read?uri=platform://';
const as = (name: string) => ({ Authorization: `Bearer ${tokenFor(name)}` });
const read = (resource: string, name: string) => get(READ + resource, as(name));

const post = (name: string, body: string) => postText(body, as(name));

const call = (id: number, method: string, params: object) => rpc(method, params, id);

const ROOM = 1_040_000;
const search = (id: number) =>
  JSON.stringify(call(id, 'tools/call', { name: 'list_installed_tools', arguments: { query: `nothing ${id}` } }));
const LONG_READ = JSON.stringify(
  call(1, 'resources/read', { uri: 'platform://workflows', _meta: { x: 'x'.repeat(ROOM) } }),
);
/** How many connections flood the one that hangs, each with reads of its own tokens. */
export const FLOODS = 3;

const ATTACKS = {
  'floods that are pipelined': {
    everyMs: 100,
    async round({ open, over, round }) {
      const floods = Array.from({ length: FLOODS }, async (_, index) => {
        const socket = open();
        // A flood at once may be cut before its first read is under way.
        socket.write(read('workflows', `flood-${round}-${index}`));
        await sleep(100);
        for (let sent = 0; sent < 40_000 && !over.aborted && !socket.destroyed; sent += 500) {
          const reads = Array.from({ length: 500 }, (_, n) => read('workflows', `flood-${round}-${index}-${sent + n}`));
          if (!socket.write(reads.join(''))) await until(socket, 'drain', over);
        }
        await until(socket, 'close', over);
      });
      await Promise.all(floods);
    },
  },
  'reads of one token that hang': {
    everyMs: 1000,
    async round({ open, over }) {
      const sockets = Array.from({ length: 300 }, () => open());
      for (const socket of sockets) socket.write(read('workflows', 'waiting'));
      await firstAnswer(sockets, over);
    },
  },
  'bodies that wait': {
    everyMs: 3000,
    async round({ open, over, round }) {
      const sockets = Array.from({ length: 20 }, () => open());
      for (const socket of sockets) {
        socket.write(post(`holding-${round}`, LONG_READ));
        await sleep(50);
      }
      await firstAnswer(sockets, over);
    },
  },
  'connections that read nothing': {
    everyMs: 3000,
    async round({ open, over }) {
      for (let index = 0; index < 64; index += 1) {
        const socket = open();
        socket.pause();
        socket.write(read(index % 8 === 0 ? 'projects' : 'tools', 'large-unread').repeat(12));
        await sleep(15);
      }
      await sleep(10_000, undefined, { signal: over }).catch(() => {});
    },
  },
  'many searches at once': {
    everyMs: 2000,
    async round({ ask }) {
      await Promise.all(Array.from({ length: 100 }, (_, id) => ask(post('large-search', search(id)), ['"total":0'])));
    },
  },
  'hang-ups': {
    everyMs: 50,
    async round({ open, round }) {
      const all = [read('workflows', 'gone'), read('projects', 'large-gone'), read('tools', `gone-${round}`)];
      const request = all[round % all.length] ?? '';
      open().write(round % 2 === 0 ? request : request.slice(0, -10));
      await sleep(round % 20);
    },
  },
  'hostile pages': {
    everyMs: 700,
    async round({ ask, round }) {
      await ask(read('workflows', `${HOSTILE_PAGES[round % HOSTILE_PAGES.length]}-${round}`), ['upstream_invalid']);
    },
  },
  'many long lists at once': {
    everyMs: 4000,
    async round({ ask, round }) {
      const names = Array.from({ length: 6 }, (_, index) => `endless-${round}-at-once-${index}`);
      await Promise.all(names.map((name) => ask(read('workflows', name), ['overloaded'])));
    },
  },
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof ATTACKS;

/** Attacks a server in all these ways at once until it is over. `seen` is what each attack sees, as far as it has come. */
export function attack(url: string, over: AbortSignal) {
  const names = Object.keys(ATTACKS) as AttackName[];
  const seen = Object.fromEntries(names.map((name) => [name, {}])) as Record<AttackName, Seen>;
  return { seen, ended: Promise.all(names.map((name) => repeat(url, ATTACKS[name], seen[name], over))) };
}

async function repeat(url: string, { everyMs, round }: Attack, seen: Seen, over: AbortSignal): Promise<void> {
  const count = (what: string) => {
    seen[what] = (seen[what] ?? 0) + 1;
  };
  for (let number = 0; !over.aborted; number += 1) {
    const ending: (() => void)[] = [];
    const open = () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
      ending.push(() => socket.destroy());
      return socket;
    };
    const ask = async (request: string | Buffer, words: readonly string[] = []) => {
      const { socket, send, receive } = openConnection(url);
      const end = () => socket.destroy();
      over.addEventListener('abort', end, { once: true });
      send(request);
      const response = await receive().catch(() => undefined);
      end();
      if (response === undefined) return over.aborted ? undefined : count('closed');
      count(String(response.status));
      for (const word of words) if (response.body.includes(word)) count(word);
    };
    await round({ round: number, over, open, ask, count });
    for (const end of ending) end();
    await sleep(everyMs, undefined, { signal: over }).catch(() => {});
  }
}

/** Waits until one of the connections is answered: on a slow machine it takes a while until all of them wait. */
async function firstAnswer(sockets: readonly Socket[], over: AbortSignal): Promise<void> {
  const answered = sockets.map((socket) => once(socket, 'data', { signal: over }));
  await Promise.race([sleep(10_000), Promise.any(answered).catch(() => {})]);
}

/** Resolves with the event, once the connection is closed, or the attack is over. */
async function until(socket: Socket, event: 'close' | 'drain', over: AbortSignal): Promise<void> {
  if (socket.destroyed || over.aborted) return;
  const come = new AbortController();
  const signal = AbortSignal.any([over, come.signal]);
  await Promise.race([once(socket, event, { signal }), once(socket, 'close', { signal })]).catch(() => {});
  come.abort();
}
