import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { createConnector } from '../../../../src/core/upstream/client/connector.ts';
import { type ConnectionsOptions, createConnections } from '../../../../src/core/upstream/client/kept-connections.ts';
import { receive } from '../../../../src/core/upstream/client/receive.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { eventually } from '../../../support/eventually.ts';
import { listen } from '../../../support/listening.ts';
import { randomFrom, SEEDED } from '../../../support/seed.ts';
import { asking, calm, open, recordEvents } from '../harness.ts';

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
  async function connect(
    options: Partial<ConnectionsOptions> = {},
    respond = (socket: Socket) => void socket.write(responseOf('[]')),
  ) {
    const platform = await startPlatform(respond);
    const clock = { now: 0 };
    let unsolicited = 0;
    const connections = createConnections({
      origin: platform.url,
      max: 3,
      kept: 'shared',
      allowH2: false,
      connect: createConnector({ timeoutMs: 2000, allowH2: false }),
      onUnsolicited: () => {
        unsolicited += 1;
      },
      now: () => clock.now,
      ...options,
    });
    onCleanup(() => connections.destroy(new Error('the test is over')));
    const read = async (key: string) => {
      const { dispatcher, once, release } = await connections.lease(key);
      const request = { method: 'GET', path: '/', reset: once } as const;
      const receiving = { judge: () => undefined, maxBytes: 100, hold: () => {} };
      const { body } = await receive(dispatcher, request, receiving, calm()).finally(release);
      return String(body);
    };
    return { ...platform, clock, read, unsolicited: () => unsolicited };
  }

  it('serve any caller in turn when shared, and one caller only with perCaller', async () => {
    const { read, connections } = await connect();
    for (const key of ['a', 'b', 'a', 'c']) await read(key);
    expect(connections()).to.equal(1);
    await Promise.all(['a', 'b', 'c'].map(read));
    expect(connections()).to.equal(3);
    const own = await connect({ kept: 'perCaller' });
    for (const key of ['a', 'b', 'a', 'b', 'a']) await own.read(key);
    expect(own.connections()).to.equal(2);
  });

  it('prefer the one that served the caller last, else the least recently used', async () => {
    const used: Socket[] = [];
    const { read } = await connect({}, (socket) => {
      used.push(socket);
      setTimeout(() => socket.write(responseOf('[]')), 5);
    });
    await Promise.all(['a', 'b'].map(read));
    const [ofA, ofB] = used.splice(0);
    for (const key of ['b', 'b', 'a', 'c', 'a', 'd']) await read(key);
    expect(used.map((socket) => (socket === ofA ? 'A' : 'B'))).to.deep.equal(['B', 'B', 'A', 'B', 'A', 'B']);
    expect(ofB).to.not.equal(ofA);
  });

  it('do not exceed their maximum: the least recently used one is closed', async () => {
    const { read, connections, open } = await connect({ kept: 'perCaller' });
    for (const key of ['a', 'b', 'c', 'a', 'd']) await read(key);
    await eventually(() => open.size === 3 || undefined);
    expect(connections()).to.equal(4);
    await read('a');
    expect(connections()).to.equal(4);
    await read('b');
    expect(connections()).to.equal(5);
    await eventually(() => open.size === 3 || undefined);
  });

  /** Responds to the first request, and sends this in a moment. */
  const sendsLater = (bytes: string) => (socket: Socket) => {
    socket.write(responseOf('[]'));
    setTimeout(() => socket.write(bytes), 20);
  };
  const UNSOLICITED: Record<string, (socket: Socket) => void> = {
    'a second response at once': (socket) => socket.write(responseOf('[]') + responseOf('[2]')),
    'a second response later': sendsLater(responseOf('[2]')),
    'the beginning of one': sendsLater('H'),
    'no HTTP at all': sendsLater('}'),
  };

  for (const [what, respond] of Object.entries(UNSOLICITED)) {
    it(`are closed by ${what}, and then serve one request each for ten minutes`, async () => {
      let first = true;
      const { read, connections, open, heads, clock, unsolicited } = await connect({}, (socket) => {
        if (first) respond(socket);
        else socket.write(responseOf('[]'));
        first = false;
      });
      expect(await read('a')).to.equal('[]');
      await eventually(() => open.size === 0 || undefined);
      expect(unsolicited()).to.equal(1);
      clock.now = 599_999;
      for (const key of ['a', 'a']) expect(await read(key)).to.equal('[]');
      expect(connections()).to.equal(3);
      expect(heads.slice(1).every((head) => head.includes('connection: close'))).to.equal(true);
      clock.now = 600_000;
      for (const key of ['a', 'b']) expect(await read(key)).to.equal('[]');
      expect(connections()).to.equal(4);
      expect(unsolicited()).to.equal(1);
    });
  }

  it('settle once before another caller, and not again', async () => {
    const { read } = await connect();
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const settled: boolean[] = [];
    await read('a');
    for (const key of ['b', 'c', 'd']) {
      const before = timers();
      const reading = read(key);
      settled.push(timers() > before);
      await reading;
    }
    expect(settled).to.deep.equal([true, false, false]);
  });

  for (const [when, keys, isLost] of [
    ['the first time', ['a'], false],
    ['once they have served several', ['a', 'b', 'c', 'd', 'e', 'a'], true],
  ] as const) {
    it(`read unsolicited bytes that arrived while the process was stopped before another caller: ${when}`, async () => {
      const { read, clock, open, unsolicited } = await connect({ max: 1 });
      for (const key of keys) expect(await read(key)).to.equal('[]');
      for (const socket of open) socket.write(responseOf('["a"]'));
      clock.now += 1000;
      expect(await read('z').catch((error) => error.code)).to.equal(isLost ? 'upstream_failed' : '[]');
      expect(unsolicited()).to.equal(1);
    });
  }

  it('settle again after a reconnect', async () => {
    let number = 0;
    const { read, connections, open, unsolicited } = await connect({ max: 1 }, (socket) => {
      number += 1;
      socket.write(responseOf(`[${number}]`));
      if (number === 2) socket.end();
      if (number === 3) setTimeout(() => socket.write(responseOf('[0]')), 5);
    });
    expect([await read('a'), await read('b')]).to.deep.equal(['[1]', '[2]']);
    await eventually(() => open.size === 0 || undefined);
    expect(await read('c')).to.equal('[3]');
    // If the event loop is late, the connection may be lost just after it has settled.
    expect(await read('d').catch(() => read('d'))).to.equal('[4]');
    expect([connections(), unsolicited()]).to.deep.equal([3, 1]);
  });

  it('in quarantine fail requests on connections that have served before', async () => {
    const waiting: Socket[] = [];
    let number = 0;
    const { read, open } = await connect({}, (socket) => {
      number += 1;
      // The first two are served over two connections; then one of these and a new one are asked, and say nothing.
      if (number <= 2) socket.write(responseOf('[]'));
      else waiting.push(socket);
    });
    await Promise.all(['a', 'b'].map(read));
    const sockets = [...open];
    const reads = ['a', 'b', 'c'].map((key) => read(key).catch((error) => error.code));
    await eventually(() => waiting.length === 3 || undefined);
    const [fresh] = waiting.filter((socket) => !sockets.includes(socket));
    // No request is under way on this one.
    sockets[0]?.write(responseOf('[1]') + responseOf('[2]'));
    await eventually(() => open.size === 1 || undefined);
    fresh?.write(responseOf('[3]'));
    expect((await Promise.all(reads)).sort()).to.deep.equal(['[1]', '[3]', 'upstream_failed']);
  });

  it('are not quarantined when the upstream closes or resets one', async () => {
    let number = 0;
    const { read, connections, open, heads, unsolicited } = await connect({}, (socket) => {
      number += 1;
      if (number === 1) socket.end(responseOf('[]'));
      else if (number === 2) socket.write(responseOf('[]'), () => socket.resetAndDestroy());
      else socket.write(responseOf('[]'));
    });
    for (let count = 0; count < 2; count += 1) {
      await read('a');
      await eventually(() => open.size === 0 || undefined);
    }
    // The client may not have seen yet that the second one was reset.
    for (const key of ['a', 'b']) await read(key).catch(() => read(key));
    expect(unsolicited()).to.equal(0);
    expect(connections()).to.equal(3);
    expect(heads.some((head) => head.includes('connection: close'))).to.equal(false);
  });
});

describe(`an upstream that sends each response twice ${SEEDED}`, () => {
  const READS = 200;
  const CALLERS = 50;
  const CONNECTIONS = 8;

  /** Reads for callers in turn, and returns how many received the response of another. */
  async function attack(keptConnections: 'shared' | 'perCaller', secondAfterMs: () => number | undefined) {
    const { url } = await startPlatform((socket, token) => {
      const delayMs = secondAfterMs();
      if (delayMs === undefined) socket.write(responseOf(token).repeat(2));
      else {
        socket.write(responseOf(token));
        setTimeout(() => socket.destroyed || socket.write(responseOf(token)), delayMs);
      }
    });
    const { events, told } = recordEvents();
    const upstream = open(url, { connections: CONNECTIONS, keptConnections, events });
    let asked = 0;
    let wrong = 0;
    let lost = 0;
    async function readOn(): Promise<void> {
      while (asked < READS) {
        const key = `token-of-${asked % CALLERS}`;
        asked += 1;
        const request = { ...asking('/', { credentialKey: key }), authorization: { authorization: key } };
        const page = await upstream.get(request, calm()).then(
          (reply) => reply.page,
          () => undefined,
        );
        if (page === undefined) lost += 1;
        else if (page !== key) wrong += 1;
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, readOn));
    const reported = told.unsolicitedResponse ?? [];
    // With perCaller, connections are closed for other callers, often before the second response arrives.
    if (keptConnections === 'shared') expect(reported).to.deep.equal([{ upstream: 'projects' }]);
    else expect(reported).to.have.length.at.most(1);
    expect(lost).to.be.at.most(CONNECTIONS);
    return wrong;
  }

  const random = randomFrom();
  const upTo5Ms = () => random() * 5;

  for (const [kept, when, delays] of [
    ['shared', 'both arrive together', [() => undefined]],
    ['shared', 'the second arrives soon', [() => 0, upTo5Ms, upTo5Ms]],
    ['perCaller', 'both arrive together', [() => undefined]],
    ['perCaller', 'the second arrives at any time', [() => 0, upTo5Ms, upTo5Ms]],
  ] as const) {
    it(`gives no caller the response of another with ${kept} connections when ${when}`, async () => {
      for (const secondAfterMs of delays) expect(await attack(kept, secondAfterMs)).to.equal(0);
    });
  }
});
