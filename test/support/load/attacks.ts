import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { get, openConnection } from '../raw-http.ts';
import { postText, rpc } from '../rpc.ts';
import { HOSTILE_PAGES } from './attack-platform.ts';
import { tokenFor } from './callers.ts';

/** What an attack saw, in numbers by what it was. */
export type Seen = Record<string, number>;

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

const post = (name: string, body: string, fields: Record<string, string> = {}) =>
  postText(body, { ...as(name), ...fields });

const call = (id: number, method: string, params: object) => rpc(method, params, id);

const ROOM = 1_040_000;
const search = (id: number) =>
  JSON.stringify(call(id, 'tools/call', { name: 'list_installed_tools', arguments: { query: `nothing ${id}` } }));
const BATCH = JSON.stringify(Array(3000).fill({ jsonrpc: '2.0', method: 'notifications/initialized' }));
const LONG_READ = JSON.stringify(
  call(1, 'resources/read', { uri: 'platform://workflows', _meta: { x: 'x'.repeat(ROOM) } }),
);
const MANY = Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`n${index}`, 1]));
const WIDE = JSON.stringify(call(1, 'tools/call', { name: 'list_installed_tools', arguments: MANY }));
const NESTED = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"n","version":"1"},"capabilities":{"experimental":${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}}}}`;
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
  'tiny requests behind reads that hang': {
    everyMs: 3000,
    async round({ open, round }) {
      for (let index = 0; index < 12; index += 1) {
        open().write(
          read('workflows', `tiny-${round}-${index}`).repeat(16) + 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(500),
        );
        await sleep(50);
      }
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
  batches: { everyMs: 500, round: ({ ask }) => ask(post('many', BATCH), ['-32600']) },
  'wide messages': { everyMs: 500, round: ({ ask }) => ask(post('many', WIDE), ['too_large']) },
  'deep nesting': { everyMs: 500, round: ({ ask }) => ask(post('many', NESTED), ['-32602']) },
  'bodies in tiny chunks': {
    everyMs: 3000,
    round: ({ ask }) => {
      const head = post('many', '', { 'Transfer-Encoding': 'chunked' });
      return ask(`${head}${'1\\r\\n \\r\\n'.repeat(150_000)}`, ['invalid_request']);
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
      const kind = [...HOSTILE_PAGES, 'quotes'][round % (HOSTILE_PAGES.length + 1)];
      await ask(read('workflows', `${kind}-${round}`), [kind === 'quotes' ? 'One' : 'upstream_invalid']);
    },
  },
  'many long lists at once': {
    everyMs: 4000,
    async round({ ask, round }) {
      const names = Array.from({ length: 6 }, (_, index) => `endless-${round}-at-once-${index}`);
      await Promise.all(names.map((name) => ask(read('workflows', name), ['overloaded'])));
    },
  },
  'headers that come slowly': {
    everyMs: 500,
    async round({ open, over, count }) {
      const slow = Array.from({ length: 30 }, async () => {
        const socket = open();
        let text = '';
        socket.on('data', (bytes) => {
          text += bytes;
        });
        socket.write('GET / HTTP/1.1\r\n');
        while (!over.aborted && !socket.destroyed && text === '') {
          socket.write('x');
          await sleep(200);
        }
        if (text.startsWith('HTTP/1.1 408')) count('408');
      });
      await Promise.all(slow);
    },
  },
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof ATTACKS;

export type AllSeen = Record<AttackName, Seen>;

export const nothingSeen = (): AllSeen => Object.fromEntries(Object.keys(ATTACKS).map((name) => [name, {}])) as AllSeen;

/** Attacks a server in all these ways at once until it is over, and notes what each attack sees. */
export async function attack(url: string, all: AllSeen, over: AbortSignal): Promise<void> {
  const names = Object.keys(ATTACKS) as AttackName[];
  await Promise.all(names.map((name) => repeat(url, ATTACKS[name], all[name], over)));
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
