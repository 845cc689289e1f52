import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { asking, calm, failureOf, useHarness } from './harness.ts';

const REFUSED = 'HTTP/1.1 404 Not Found\r\n';

describe('the body of an answer that nobody wants', () => {
  const { serveRaw, open } = useHarness();

  /** An upstream that answers each request so, and its connections. */
  async function answering(answer: (socket: Socket) => void) {
    const { url, sockets } = await serveRaw(answer);
    return { upstream: open(url, { connections: 1, maxPageBytes: 10_000_000 }), sockets };
  }

  const refused = async (upstream: Upstream) => {
    expect((await failureOf(upstream.get(asking(), calm()))).upstreamStatus).to.equal(404);
  };

  async function closed([socket]: readonly Socket[]): Promise<void> {
    if (socket?.closed === false) await once(socket, 'close');
  }

  it('is read to its end where that is near, and its connection serves again', async () => {
    const { upstream, sockets } = await answering((socket) => {
      socket.write(`${REFUSED}Content-Length: 60000\r\n\r\n`);
      setTimeout(() => socket.write('x'.repeat(60_000)), 20);
    });
    for (let count = 0; count < 3; count += 1) await refused(upstream);
    expect(sockets).to.have.length(1);
  });

  it('costs its connection where it says that it is large', async () => {
    const { upstream, sockets } = await answering((socket) => socket.write(`${REFUSED}Content-Length: 65537\r\n\r\n`));
    const begun = performance.now();
    await refused(upstream);
    await closed(sockets);
    expect(performance.now() - begun).to.be.lessThan(900);
  });

  it('costs its connection once it is large', async () => {
    const { upstream, sockets } = await answering((socket) => {
      socket.write(`${REFUSED}Transfer-Encoding: chunked\r\n\r\n`);
      for (let count = 0; count < 65; count += 1) socket.write(`400\r\n${'x'.repeat(0x400)}\r\n`);
    });
    const begun = performance.now();
    await refused(upstream);
    await closed(sockets);
    expect(performance.now() - begun).to.be.lessThan(900);
  });

  it('may break off, and ends with the client', async () => {
    const broken = await answering((socket) => socket.end(`${REFUSED}Content-Length: 2\r\n\r\nx`));
    await refused(broken.upstream);
    await closed(broken.sockets);
    const stalled = await answering((socket) => socket.write(`${REFUSED}Content-Length: 2\r\n\r\nx`));
    await refused(stalled.upstream);
    await stalled.upstream.close();
    await closed(stalled.sockets);
  });
});
