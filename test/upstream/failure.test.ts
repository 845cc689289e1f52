import { expect } from 'chai';
import { withDeadline } from '../../src/kernel/deadline.ts';
import type { GatewayError } from '../../src/kernel/errors.ts';
import { failure } from '../../src/upstream/failure.ts';
import { asking, calm, failureOf, useHarness } from './harness.ts';

describe('a failing upstream', () => {
  const { serve, serveRaw, open } = useHarness();

  /** The failure of one read from a server that answers with these bytes and then ends or resets the connection. */
  async function readFrom(bytes: string, end: 'end' | 'reset' | 'stay' = 'end') {
    const { url } = await serveRaw((socket) => {
      socket.write(bytes, () => {
        if (end === 'end') socket.end();
        if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
    return failureOf(open(url).get(asking(), calm()));
  }

  it('that refuses the connection is upstream_failed', async () => {
    const server = await serve(() => {});
    await server.close();
    const error = await failureOf(open(server.url).get(asking(), calm()));
    expect(error).to.include({ code: 'upstream_failed', upstream: 'projects', reason: 'the connection was refused' });
    expect(error.cause).to.have.property('code', 'ECONNREFUSED');
  });

  it('that does not open the connection in time is upstream_timeout', async () => {
    const { url } = await serveRaw(() => {});
    const tls = open(url.replace('http:', 'https:'), { connectTimeoutMs: 30 });
    // undici's own timer would come a second late, after the deadline.
    const reading = withDeadline(800, calm(), (signal) => tls.get(asking(), signal));
    expect(await failureOf(reading)).to.include({
      code: 'upstream_timeout',
      upstream: 'projects',
      reason: 'the connection did not open in time',
    });
  });

  it('that speaks no TLS where https is set is upstream_failed', async () => {
    const { url } = await serveRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const error = await failureOf(open(url.replace('http:', 'https:')).get(asking(), calm()));
    expect(error).to.include({ code: 'upstream_failed', reason: 'TLS was not established' });
  });

  it('that resets or closes the connection before headers is upstream_failed', async () => {
    for (const end of ['reset', 'end'] as const) {
      const error = await readFrom('', end);
      expect(error).to.include({ code: 'upstream_failed', upstream: 'projects', reason: 'the connection was lost' });
      expect(error.cause).to.be.instanceOf(Error);
    }
  });

  it('that ends a body early is upstream_failed, by Content-Length or by chunks', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
    for (const end of ['reset', 'end'] as const) {
      expect((await readFrom(`${head}Content-Length: 100\r\n\r\n[1,2`, end)).code).to.equal('upstream_failed');
      expect((await readFrom(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\n[1,2\r\n`, end)).code).to.equal(
        'upstream_failed',
      );
    }
  });

  it('that speaks no HTTP is upstream_failed', async () => {
    expect(await readFrom('SSH-2.0-OpenSSH_9.6\r\n', 'stay')).to.include({
      code: 'upstream_failed',
      reason: 'the response is not well-formed HTTP',
    });
    const conflicting = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]';
    expect((await readFrom(conflicting, 'stay')).code).to.equal('upstream_failed');
  });

  it('that answers with informational statuses only, or headers without end, is upstream_failed', async () => {
    expect((await readFrom('HTTP/1.1 100 Continue\r\n\r\n')).code).to.equal('upstream_failed');
    expect((await readFrom('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n')).code).to.equal('upstream_failed');
    expect(await readFrom(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, 'stay')).to.include({
      code: 'upstream_failed',
      reason: 'the response headers are too large',
    });
  });

  it('is to blame, and may be asked again where no connection was made or one was lost', () => {
    const codes = {
      UND_ERR_CONNECT_TIMEOUT: 'connect',
      ECONNREFUSED: 'connect',
      EHOSTUNREACH: 'connect',
      ENETDOWN: 'connect',
      EAI_AGAIN: 'connect',
      ECONNRESET: 'reset',
      EPIPE: 'reset',
      UND_ERR_SOCKET: 'reset',
      UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
      UND_ERR_HEADERS_OVERFLOW: undefined,
      CERT_HAS_EXPIRED: undefined,
      UNHEARD_OF: undefined,
    };
    for (const [code, retryable] of Object.entries(codes)) {
      const { fault, retryable: given } = failure(Object.assign(new Error('x'), { code })) as GatewayError;
      expect({ code, fault, retryable: given }).to.deep.equal({ code, fault: true, retryable });
    }
  });

  it('is not to blame for a client that was closed', () => {
    const error = failure(Object.assign(new Error('x'), { code: 'UND_ERR_DESTROYED' }));
    expect(error).to.include({ code: 'draining', fault: false, retryable: undefined });
  });

  it('has its words kept in the cause and nowhere else', () => {
    const theirs = Object.assign(new Error('secret words'), { code: 'ENOTFOUND' });
    const error = failure(theirs);
    expect(error).to.include({ code: 'upstream_failed', reason: 'the host name was not resolved', cause: theirs });
    expect(String(error)).to.not.contain('secret');
    expect(failure('thrown text')).to.include({ code: 'upstream_failed', message: 'the request failed' });
  });
});
