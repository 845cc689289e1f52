import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type ConnectionOptions, connect as connectSecurely, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { openTlsFiles, type TlsPaths } from '../../../../src/core/credentials/files/tls-files.ts';
import type { UnusableFile } from '../../../../src/core/credentials/files/watched-files.ts';
import { createHeldReads } from '../../../support/catalogue.ts';
import { createAuthority, mountPem, writePem } from '../../../support/certificates.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { eventually } from '../../../support/eventually.ts';
import { newFolder } from '../../../support/process/process.ts';
import { exchange, get, openConnection, sendTo } from '../../../support/raw-http.ts';
import { AUTHORITY, tlsOf } from '../over-tls.ts';
import { expectNoUncaught, LIST, READ, type ServeOptions, serve } from '../served.ts';

const { ca } = AUTHORITY;
const CLIENTS = await createAuthority('Authority of clients');
const CLIENT = await CLIENTS.issue();

/** How the handshake of a client ends: with the protocol and what ALPN chose, or with the code of its error. */
async function handshake(url: string, options: ConnectionOptions = {}): Promise<TLSSocket | string> {
  const socket = connectSecurely({ ca, host: '127.0.0.1', port: Number(new URL(url).port), ...options });
  onCleanup(() => socket.destroy());
  return once(socket, 'secureConnect').then(
    () => socket,
    (error: NodeJS.ErrnoException) => String(error.code),
  );
}

/** The listener, and the codes of the handshakes that failed. */
async function serveTls(options: ServeOptions = {}) {
  const failed: string[] = [];
  const events = { handshakeFailed: ({ code }: { readonly code: string }) => failed.push(code) };
  return { ...(await serve({ tls: tlsOf(), ...options, events })), failed };
}

/** A connection to a listener with TLS on which no handshake begins. */
const openPlain = (url: string) => openConnection(url.replace('https:', 'http:'));

async function isAnswered(url: string, tls: ConnectionOptions): Promise<boolean> {
  return exchange(url, get(LIST), { tls: { ca, ...tls } }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

describe('a listener that speaks TLS', () => {
  expectNoUncaught();

  it('says so in its URL, and answers over HTTP/1.1 alone', async () => {
    const { url } = await serveTls();
    expect(url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect((await exchange(url, get(LIST), { tls: { ca } })).status).to.equal(200);
    const both = await handshake(url, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(both).to.include({ alpnProtocol: 'http/1.1' });
    expect(await handshake(url, { ALPNProtocols: ['h2'] })).to.equal('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  });

  it('rejects renegotiation', async () => {
    const { url } = await serveTls();
    const socket = await handshake(url, { maxVersion: 'TLSv1.2' });
    if (typeof socket === 'string') throw new Error(socket);
    const [error] = await new Promise<unknown[]>((resolve) => {
      socket.once('error', (cause) => resolve([cause]));
      socket.renegotiate({}, (...result) => resolve(result));
    });
    expect(error).to.be.instanceOf(Error);
  });

  it('closes a connection with plain HTTP cleanly, and reports it', async () => {
    const { url, failed, ended } = await serveTls();
    const plain = openPlain(url);
    plain.send(get(LIST));
    expect(await plain.closed()).to.deep.include({ responses: [], rest: Buffer.alloc(0) });
    expect(await eventually(() => failed.length > 0 && failed)).to.deep.equal(['ERR_SSL_HTTP_REQUEST']);
    expect(await ended(0)).to.deep.equal([]);
    expect(await isAnswered(url, {})).to.equal(true);
  });

  it('closes a connection on which nothing is said after the handshake, and answers a request that is not whole', async () => {
    const { url, ended } = await serveTls({ headersTimeoutMs: 2000 });
    const silent = openConnection(url, { tls: { ca } });
    const slow = sendTo(url, 'GET /livez HTTP/1.1\r\n', { tls: { ca } });
    expect(await silent.closed()).to.deep.include({ responses: [], rest: Buffer.alloc(0) });
    expect((await slow.closed()).responses.map(({ status }) => status)).to.deep.equal([408]);
    expect((await ended(1)).map(({ outcome }) => outcome)).to.deep.equal(['request_timeout']);
  });

  it('does not treat a page over plain HTTP as its own', async () => {
    const { url } = await serveTls();
    const { host } = new URL(url);
    const from = (origin: string) =>
      exchange(url, get(LIST, { Host: host, Origin: origin }), { tls: { ca } }).then(({ status }) => status);
    expect(await from(`https://${host}`)).to.equal(200);
    expect(await from(`http://${host}`)).to.equal(403);
  });
});

describe('clients that must show a certificate', () => {
  expectNoUncaught();

  it('are admitted only with a certificate of the authority', async () => {
    const { url, failed } = await serveTls({ tls: tlsOf(undefined, CLIENTS.ca) });
    expect(await isAnswered(url, CLIENT)).to.equal(true);
    expect(await isAnswered(url, {})).to.equal(false);
    expect(await isAnswered(url, await AUTHORITY.issue())).to.equal(false);
    expect(await isAnswered(url, await CLIENTS.issue({ days: [-2, -1] }))).to.equal(false);
    expect(failed.length).to.equal(3);
    expect(failed).to.include('CERT_HAS_EXPIRED');
  });
});

/** A listener with certificates in files, and a clock that the test sets. */
async function serveFiles(paths: TlsPaths, options: ServeOptions = {}) {
  const clock = { now: Date.now() };
  const changes: (UnusableFile | undefined)[] = [];
  const files = openTlsFiles(paths, { now: () => clock.now, onChange: (unusable) => changes.push(unusable) });
  const served = await serveTls({ ...options, tls: { ...tlsOf(), files } });
  /** Lets the files have been left alone for long. */
  const settle = () => {
    clock.now += 10_000;
  };
  return { ...served, changes, settle };
}

async function shown(url: string): Promise<string | undefined> {
  const socket = await handshake(url, { session: undefined });
  if (typeof socket === 'string') return socket;
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject?.CN);
}

describe('certificates that are renewed', () => {
  expectNoUncaught();

  it('apply to new connections, and open ones continue', async () => {
    const folder = await newFolder();
    const paths = mountPem(folder, 'first', await AUTHORITY.issue({ commonName: 'first' }));
    const { read, release } = createHeldReads();
    const { url, reads, changes, settle } = await serveFiles({ certFile: paths.cert, keyFile: paths.key }, { read });
    const reading = sendTo(url, get(READ), { tls: { ca } });
    await eventually(() => reads.length === 1);
    expect(await shown(url)).to.equal('first');

    mountPem(folder, 'second', await AUTHORITY.issue({ commonName: 'second' }));
    settle();
    await eventually(async () => (await shown(url)) === 'second');
    release();
    expect((await reading.receive()).status).to.equal(200);
    reading.send(get(LIST));
    expect((await reading.receive()).status).to.equal(200);
    expect(changes).to.deep.equal([undefined]);
  });

  it('are those of the authorities of clients, too, with no session of before resumed', async () => {
    const folder = await newFolder();
    const { cert, key, clients } = writePem(folder, { ...(await AUTHORITY.issue()), clients: CLIENTS.ca });
    const paths = { certFile: cert, keyFile: key, clientCaFile: clients };
    const { url, changes, settle } = await serveFiles(paths);
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      writeFileSync(clients, CLIENTS.ca);
      settle();
      await eventually(() => isAnswered(url, { ...CLIENT, maxVersion }));
      const session = await sessionOf(url, { ...CLIENT, maxVersion });
      // It is one that would be resumed.
      const resumed = (await handshake(url, { ...CLIENT, maxVersion, session })) as TLSSocket;
      expect(resumed.isSessionReused()).to.equal(true);
      writeFileSync(clients, (await createAuthority('others')).ca);
      const before = changes.length;
      settle();
      await eventually(() => changes.length > before);
      expect(await isAnswered(url, { ...CLIENT, maxVersion })).to.equal(false);
      expect(await isAnswered(url, { ...CLIENT, maxVersion, session })).to.equal(false);
    }
  });
});

/** What a client may resume a session with. */
async function sessionOf(url: string, options: ConnectionOptions): Promise<Buffer> {
  const socket = connectSecurely({ ca, host: '127.0.0.1', port: Number(new URL(url).port), ...options });
  const arrives = once(socket, 'session');
  socket.write(get(LIST));
  const [session] = await arrives;
  socket.destroy();
  return session;
}
