import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { createConnector } from '../../../../src/core/upstream/client/connector.ts';
import { createUpstreamConnections } from '../../../../src/core/upstream/client/upstream-connections.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { eventually } from '../../../support/eventually.ts';
import { listen } from '../../../support/listening.ts';
import { randomFrom, SEEDED } from '../../../support/seed.ts';
import { asking, calm, open } from '../harness.ts';

const responseOf = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** A platform that calls `respond` with each request and its authorization. */
async function startPlatform(respond: (socket: Socket, token: string) => void) {
  const heads: string[] = [];
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    let text = '';
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.setEncoding('latin1').on('data', (bytes: string) => {
      text += bytes;
      if (!text.endsWith('\r\n\r\n')) return;
      heads.push(text);
      respond(socket, /^authorization: (.*)\r$/m.exec(text)?.[1] ?? '');
      text = '';
    });
  });
  const { url, connections } = await listen(server);
  return { url, connections, heads, open };
}

describe('the connections to an upstream', () => {
  /** Connections to a platform that responds to each request with what `respond` writes. */
  async function connect(max = 3, respond = (socket: Socket) => void socket.write(responseOf('[]'))) {
    const platform = await startPlatform(respond);
    const connections = createUpstreamConnections({
      origin: platform.url,
      max,
      connect: createConnector({ timeoutMs: 2000 }),
    });
    onCleanup(() => connections.destroy(new Error('the test is over')));
    const read = async (key: string) => {
      const { client, release } = await connections.lease(key);
      try {
        const { body } = await client.request({ method: 'GET', path: '/' });
        return await body.text();
      } finally {
        release();
      }
    };
    return { ...platform, read, retire: connections.retire };
  }

  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

  it('serve any caller once they have settled, and before that others only when no more may open', async () => {
    const { read, connections } = await connect(2);
    for (const key of ['a', 'a', 'b', 'c']) await read(key);
    expect(connections()).to.equal(2);
    await settle();
    await read('d');
    expect(connections()).to.equal(2);
    await Promise.all(['a', 'b'].map(read));
    expect(connections()).to.equal(2);
  });

  it('prefer the one that served the caller last, else the least recently used', async () => {
    const used: Socket[] = [];
    const { read } = await connect(2, (socket) => {
      used.push(socket);
      setTimeout(() => socket.write(responseOf('[]')), 5);
    });
    await Promise.all(['a', 'b'].map(read));
    const [ofA, ofB] = used.splice(0);
    for (const key of ['b', 'b', 'a', 'c', 'a', 'd']) await read(key);
    expect(used.map((socket) => (socket === ofA ? 'A' : 'B'))).to.deep.equal(['B', 'B', 'A', 'B', 'A', 'B']);
    expect(ofB).to.not.equal(ofA);
  });

  /** Responds to the first request, and sends this in a moment. */
  const sendsLater = (bytes: string) => (socket: Socket) => {
    socket.write(responseOf('[]'));
    setTimeout(() => socket.write(bytes), 5);
  };
  const UNSOLICITED: Record<string, (socket: Socket) => void> = {
    'a second response at once': (socket) => socket.write(responseOf('[]') + responseOf('[2]')),
    'a second response later': sendsLater(responseOf('[2]')),
    'the beginning of one': sendsLater('H'),
    'no HTTP at all': sendsLater('}'),
  };

  for (const [what, respond] of Object.entries(UNSOLICITED)) {
    it(`are closed by ${what}, before they serve another caller`, async () => {
      let first = true;
      const { read, connections } = await connect(1, (socket) => {
        if (first) respond(socket);
        else socket.write(responseOf('[]'));
        first = false;
      });
      for (const key of ['a', 'b']) expect(await read(key)).to.equal('[]');
      expect(connections()).to.equal(2);
    });
  }

  it('read unsolicited bytes that arrived while the process was stopped before another caller', async () => {
    const { read, connections, open: sockets } = await connect(1);
    for (const key of ['a', 'b', 'c', 'a']) expect(await read(key)).to.equal('[]');
    for (const socket of sockets) socket.write(responseOf('["a"]'));
    const until = performance.now() + 100;
    while (performance.now() < until);
    expect(await read('z')).to.equal('[]');
    expect(connections()).to.equal(2);
  });

  it('are closed once they are retired: idle ones at once, others with their request', async () => {
    const waiting: Socket[] = [];
    const {
      read,
      retire,
      open: sockets,
    } = await connect(2, (socket) => {
      if (waiting.push(socket) === 1) socket.write(responseOf('[]'));
    });
    await read('a');
    const reading = read('b');
    await eventually(() => waiting.length === 2);
    retire();
    await eventually(() => sockets.size === 1);
    waiting[1]?.write(responseOf('[1]'));
    expect(await reading).to.equal('[1]');
    await eventually(() => sockets.size === 0);
  });
});

describe(`an upstream that sends each response twice ${SEEDED}`, () => {
  const READS = 200;
  const CALLERS = 50;
  const CONNECTIONS = 8;

  /** Reads for callers in turn, and returns how many received the response of another. */
  async function attack(secondAfterMs: () => number | undefined) {
    const { url } = await startPlatform((socket, token) => {
      const delayMs = secondAfterMs();
      if (delayMs === undefined) socket.write(responseOf(token).repeat(2));
      else {
        socket.write(responseOf(token));
        setTimeout(() => socket.destroyed || socket.write(responseOf(token)), delayMs);
      }
    });
    const upstream = open(url, { connections: CONNECTIONS });
    let asked = 0;
    let wrong = 0;
    let lost = 0;
    async function readOn(): Promise<void> {
      while (asked < READS) {
        const credentialKey = `token-of-${asked % CALLERS}`;
        asked += 1;
        const request = { ...asking('/', { credentialKey }), authorization: { authorization: credentialKey } };
        const page = await upstream.get(request, calm()).then(
          (reply) => reply.page,
          () => undefined,
        );
        if (page === undefined) lost += 1;
        else if (page !== credentialKey) wrong += 1;
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, readOn));
    expect(lost).to.be.at.most(CONNECTIONS);
    return wrong;
  }

  const random = randomFrom();
  const upTo5Ms = () => random() * 5;

  for (const [when, delays] of [
    ['both arrive together', [() => undefined]],
    ['the second arrives soon', [() => 0, upTo5Ms]],
  ] as const) {
    it(`gives no caller the response of another when ${when}`, async () => {
      for (const secondAfterMs of delays) expect(await attack(secondAfterMs)).to.equal(0);
    });
  }
});
