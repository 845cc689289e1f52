import type { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Upstream } from '../../../../src/core/upstream/upstream.ts';
import { asking, calm, closed, errorOf, open, rejection, serve, serveRaw } from '../harness.ts';

const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\n';

it('does not take place once its signal has aborted while it waited for a connection', async () => {
  const server = await serve((_request, response) => setTimeout(() => response.end('[]'), 50));
  const upstream = open(server.url, { connections: 1 });
  const first = upstream.get(asking('/first'), calm());
  const controller = new AbortController();
  const second = rejection(upstream.get(asking('/second'), controller.signal));
  const reason = new Error('the caller hung up');
  controller.abort(reason);
  expect(await second).to.equal(reason);
  expect((await first).page).to.equal('[]');
  expect((await upstream.get(asking('/third'), calm())).page).to.equal('[]');
  expect(server.requests.map((request) => request.url)).to.deep.equal(['/first', '/third']);
});

describe('the body of a response that is not needed', () => {
  /** An upstream that answers each request so, and its connections. */
  async function answering(answer: (socket: Socket) => void) {
    const { url, sockets } = await serveRaw(answer);
    return { upstream: open(url, { connections: 1, maxPageBytes: 10_000_000 }), sockets };
  }

  const ask = async (upstream: Upstream) => {
    expect((await errorOf(upstream.get(asking(), calm()))).upstreamStatus).to.equal(404);
  };

  afterEach(() => mock.timers.reset());

  it('is read to its end where that is near, and its connection serves again', async () => {
    const { upstream, sockets } = await answering((socket) => {
      socket.write(`${NOT_FOUND}Content-Length: 60000\r\n\r\n`);
      setTimeout(() => socket.write('x'.repeat(60_000)), 20);
    });
    for (let count = 0; count < 3; count += 1) await ask(upstream);
    expect(sockets).to.have.length(1);
  });

  for (const [what, field, body] of [
    ['announces a large body', 'Content-Length: 65537', ''],
    ['sends one', 'Transfer-Encoding: chunked', `400\r\n${'x'.repeat(0x400)}\r\n`.repeat(65)],
  ] as const) {
    it(`costs its connection where it ${what}`, async () => {
      // What closes it is its size: the time for reading it never passes.
      mock.timers.enable({ apis: ['setTimeout'] });
      const { upstream, sockets } = await answering((socket) => socket.write(`${NOT_FOUND}${field}\r\n\r\n${body}`));
      await ask(upstream);
      await closed(sockets);
    });
  }

  it('may break off or stall, which costs its connection', async () => {
    for (const end of [(socket: Socket) => socket.end(), () => {}]) {
      const { upstream, sockets } = await answering((socket) => {
        socket.write(`${NOT_FOUND}Content-Length: 500\r\n\r\nx`);
        end(socket);
      });
      await ask(upstream);
      await closed(sockets);
    }
  });
});
