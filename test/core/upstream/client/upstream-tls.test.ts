import { writeFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { openTlsFiles, type TlsPaths } from '../../../../src/core/credentials/files/tls-files.ts';
import type { UpstreamTls } from '../../../../src/core/upstream/client/connector.ts';
import { createAuthority, type Issued, writePem } from '../../../support/certificates.ts';
import { eventually } from '../../../support/eventually.ts';
import { listen } from '../../../support/listening.ts';
import { newFolder } from '../../../support/process/process.ts';
import { asking, calm, errorOf, open } from '../harness.ts';

const AUTHORITY = await createAuthority();
const CLIENTS = await createAuthority('Authority of clients');
const LEAF = await AUTHORITY.issue();
const OTHER_HOST = await AUTHORITY.issue({ names: ['api.internal'] });
const EXPIRED = await AUTHORITY.issue({ days: [-2, -1] });
const FUTURE = await AUTHORITY.issue({ days: [1, 2] });
const FOREIGN = await (await createAuthority('Authority of others')).issue();

/** Texts of PEM that stand for files which never change. */
interface Texts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

function tlsOf({ ca, cert, key }: Texts, more: Partial<UpstreamTls> = {}): UpstreamTls {
  const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text));
  const held = { ca: bytes(ca), cert: bytes(cert), key: bytes(key) };
  return { files: { current: async () => held }, ...more };
}

const TRUSTING = tlsOf({ ca: AUTHORITY.ca });

/** A platform over TLS that says who asked: the name in the certificate of the client, and the host that SNI named. */
async function startPlatform(identity: Issued, options: ServerOptions = {}) {
  const server = createServer({ ...identity, ...options }, ({ socket }, response) => {
    const client = socket as TLSSocket;
    response.end(`${client.getPeerCertificate().subject?.CN ?? 'nobody'} at ${client.servername || 'an address'}`);
  });
  const listening = await listen(server);
  return { ...listening, url: listening.url.replace('http:', 'https:'), server };
}

describe('an upstream over TLS', () => {
  const read = async (url: string, tls?: UpstreamTls) => (await open(url, { tls }).get(asking(), calm())).page;

  it('is believed by the authorities in settings, and by no others then', async () => {
    const { url } = await startPlatform(LEAF);
    expect(await read(url, TRUSTING)).to.equal('nobody at an address');
    expect((await errorOf(read(url))).code).to.equal('upstream_failed');
    expect((await errorOf(read(url, tlsOf({ ca: CLIENTS.ca })))).code).to.equal('upstream_failed');
  });

  it('is called by the name in settings, which its certificate must contain', async () => {
    const { url } = await startPlatform(OTHER_HOST);
    const named = tlsOf({ ca: AUTHORITY.ca }, { serverName: 'api.internal' });
    expect(await read(url, named)).to.equal('nobody at api.internal');
    const { url: plain } = await startPlatform(LEAF);
    expect((await errorOf(read(plain, named))).reason).to.contain('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  const failed = (code: string) => `TLS was not established (${code})`;
  for (const [what, identity, code] of [
    ['an expired certificate', EXPIRED, 'CERT_HAS_EXPIRED'],
    ['a certificate of tomorrow', FUTURE, 'CERT_NOT_YET_VALID'],
    ['a certificate for another host', OTHER_HOST, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['a certificate of an unknown authority', FOREIGN, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ] as const) {
    it(`is not asked with ${what}, which the log names`, async () => {
      const { url } = await startPlatform(identity);
      const error = await errorOf(read(url, TRUSTING));
      expect(error).to.include({
        code: 'upstream_failed',
        upstream: 'projects',
        countsForBreaker: true,
        retryable: undefined,
      });
      expect(error.reason).to.equal(failed(code));
      expect(error.detail).to.contain('No secure connection');
    });
  }

  it('is not called in a version before TLS 1.2, or where no TLS is spoken', async () => {
    const ciphers = 'DEFAULT@SECLEVEL=0';
    const old = await startPlatform(LEAF, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers });
    expect((await errorOf(read(old.url, TRUSTING))).reason).to.match(/\(ERR_SSL_\w+PROTOCOL\w*\)$/);
    const plain = await listen((await import('node:http')).createServer());
    const error = await errorOf(read(plain.url.replace('http:', 'https:'), TRUSTING));
    expect(error.reason).to.match(/^TLS was not established \(ERR_SSL_\w+\)$/);
  });

  it('uses changed files for new connections, while requests in flight continue', async () => {
    const folder = await newFolder();
    const first = await CLIENTS.issue({ commonName: 'first' });
    const second = await CLIENTS.issue({ commonName: 'second' });
    const paths = writePem(folder, { ca: AUTHORITY.ca, ...first });
    const clock = { now: Date.now() };
    const named: TlsPaths = { caFile: paths.ca, certFile: paths.cert, keyFile: paths.key };
    const files = openTlsFiles(named, { now: () => clock.now, onChange: () => {} });
    const { url, server, connections } = await startPlatform(LEAF, { requestCert: true, ca: CLIENTS.ca });
    const upstream = open(url, { tls: { files } });
    const who = async () => (await upstream.get(asking(), calm())).page;
    expect([await who(), await who()]).to.deep.equal(Array(2).fill('first at an address'));
    expect(connections()).to.equal(1);

    // One more is under way on that connection while the files change.
    const held = Promise.withResolvers<void>();
    const [answer] = server.listeners('request') as ((...args: unknown[]) => void)[];
    server.removeAllListeners('request').once('request', async (...args) => {
      await held.promise;
      answer?.(...args);
      server.on('request', answer ?? (() => {}));
    });
    const underway = who();
    writePem(folder, second);
    clock.now += 10_000;
    await files.check();
    await eventually(() => (files.held.cert?.toString() === second.cert ? true : files.check().then(() => false)));
    held.resolve();
    expect(await underway).to.equal('first at an address');
    expect([await who(), await who()]).to.deep.equal(Array(2).fill('second at an address'));
    expect(connections()).to.equal(2);
    await eventually(async () => (await promisify(server.getConnections).call(server)) === 1);

    // An authority that is not believed any more: what was opened before serves no more.
    writeFileSync(paths.ca, CLIENTS.ca);
    await eventually(async () => {
      clock.now += 10_000;
      return who().then(
        () => false,
        () => true,
      );
    });
    expect((await errorOf(who())).reason).to.equal(failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
  });
});
