import { createSecureServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { expect } from 'chai';
import type { UpstreamOptions } from '../../../../src/core/upstream/client/upstream-client.ts';
import { createAuthority } from '../../../support/certificates.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { listen } from '../../../support/listening.ts';
import { asking, calm, errorOf, open } from '../harness.ts';

const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();
const IDENTITY = { ca: Buffer.from(AUTHORITY.ca), cert: undefined, key: undefined };
const TLS = { files: { current: async () => IDENTITY } };

type Respond = (stream: ServerHttp2Stream, path: string) => void;

async function startPlatform(respond: Respond) {
  const sessions: Http2Session[] = [];
  const server = createSecureServer({ ...LEAF });
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    respond(stream, String(headers[':path']));
  });
  const { url } = await listen(server);
  onCleanup(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { url: url.replace('http:', 'https:'), sessions };
}

/** What each of these sends is no page, and ends the read with this code of the table. */
const HOSTILE: Record<string, readonly [code: string, respond: Respond]> = {
  'resets the stream': ['upstream_failed', (stream) => stream.close(2)],
  'resets the stream within a body of known length': [
    'upstream_failed',
    (stream) => {
      stream.respond({ ':status': 200, 'content-length': 9 });
      stream.write('[', () => stream.close(2));
    },
  ],
  'ends the connection': ['upstream_failed', (stream) => stream.session?.destroy()],
  'says goodbye within the body': [
    'upstream_failed',
    (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('[', () => stream.session?.destroy());
    },
  ],
  'sends more than a page may hold': [
    'upstream_invalid',
    (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('x'.repeat(100_000));
    },
  ],
  'sends a field section that is too large': [
    'upstream_failed',
    (stream) => {
      const fields = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`x-${index}`, 'y'.repeat(100)]));
      stream.respond({ ':status': 200, ...fields });
      stream.end('[]');
    },
  ],
};

describe('an upstream over HTTP/2', () => {
  const openH2 = (url: string, options: Partial<UpstreamOptions> = {}) =>
    open(url, { tls: TLS, allowH2: true, ...options });

  it('gives each of many reads at once its own page', async () => {
    const { url } = await startPlatform((stream, path) => {
      stream.respond({ ':status': 200 });
      setTimeout(() => stream.end(path), Math.random() * 20);
    });
    const upstream = openH2(url);
    const paths = Array.from({ length: 100 }, (_, index) => `/page-${index}`);
    const replies = await Promise.all(paths.map((path) => upstream.get(asking(path, { credentialKey: path }), calm())));
    expect(replies.map(({ page }) => page)).to.deep.equal(paths);
  });

  it('takes no pushed stream for the page of a read', async () => {
    const { url } = await startPlatform((stream) => {
      if (stream.pushAllowed) {
        stream.pushStream({ ':path': '/other' }, (_error, pushed) => pushed?.end('pushed'));
      }
      stream.respond({ ':status': 200 });
      stream.end('own');
    });
    const upstream = openH2(url);
    for (const path of ['/one', '/other']) expect((await upstream.get(asking(path), calm())).page).to.equal('own');
  });

  for (const [what, [code, respond]] of Object.entries(HOSTILE)) {
    it(`is ${code} for a platform that ${what}, and serves the next read`, async () => {
      let isHostile = true;
      const { url } = await startPlatform((stream, path) => {
        if (isHostile) return respond(stream, path);
        stream.respond({ ':status': 200 });
        stream.end('[]');
      });
      const upstream = openH2(url);
      expect((await errorOf(upstream.get(asking(), calm()))).code).to.equal(code);
      isHostile = false;
      expect((await upstream.get(asking(), calm())).page).to.equal('[]');
    });
  }

  it('ends a read that its caller cancels, and serves the next one', async () => {
    let streams = 0;
    const { url } = await startPlatform((stream) => {
      streams += 1;
      stream.respond({ ':status': 200 });
      if (streams > 1) stream.end('[]');
    });
    const upstream = openH2(url);
    const controller = new AbortController();
    const reading = upstream.get(asking(), controller.signal).catch((error: unknown) => error);
    setTimeout(() => controller.abort(new Error('given up')), 50);
    expect(await reading).to.have.property('message', 'given up');
    expect((await upstream.get(asking(), calm())).page).to.equal('[]');
  });
});
