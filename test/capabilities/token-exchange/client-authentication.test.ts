import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { type JWTPayload, jwtVerify, type ProtectedHeaderParameters } from 'jose';
import { as } from '../../support/authorization/caller.ts';
import { createAuthority, writePem } from '../../support/certificates.ts';
import { listen } from '../../support/listening.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { newFolder } from '../../support/process/process.ts';
import { bodyOf, codeOf, type Exchange, echo, gatewayAt, givenFor } from './exchanging.ts';

const TOKEN = { access_token: 'exchanged', token_type: 'Bearer', expires_in: 31 };

type Client = Exchange['client'];

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const newKey = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve }).privateKey;
const newRsaKey = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const UNFIT_KEY = 'must be an RSA key of at least 2048 bits or a key on P-256, P-384 or P-521';

describe('Portico as a client of an authorization server', () => {
  let platform: HttpUpstream;
  let endpoint: HttpUpstream;
  let tokenUrl: string;

  before(async () => {
    platform = await startHttpUpstream(echo);
    endpoint = await startHttpUpstream(json({}));
    tokenUrl = `${endpoint.url}/token`;
  });

  /** A token endpoint that knows a client by this key. */
  function knowing(key: () => KeyObject) {
    const seen: { readonly header: ProtectedHeaderParameters; readonly claims: JWTPayload }[] = [];
    const handler: RequestListener = async (request, response) => {
      const assertion = (await bodyOf(request)).get('client_assertion') ?? '';
      try {
        const { protectedHeader, payload } = await jwtVerify(assertion, createPublicKey(key()), { audience: tokenUrl });
        seen.push({ header: protectedHeader, claims: payload });
        json(TOKEN)(request, response);
      } catch {
        json({ error: 'invalid_client' }, 401)(request, response);
      }
    };
    return { handler, seen };
  }

  const start = (client: Client, exchange: Partial<Exchange> = {}, now = Date.now) =>
    gatewayAt(platform, '', { exchange: { issuer: undefined, tokenUrl, client, ...exchange }, gateway: { now } });

  const KEYS: readonly [what: string, key: () => KeyObject, algorithm: string, settings: object][] = [
    ['P-256', newKey, 'ES256', {}],
    ['P-384', () => newKey('P-384'), 'ES384', { keyId: 'of-2026' }],
    ['RSA', newRsaKey, 'RS256', {}],
  ];
  for (const [what, make, algorithm, settings] of KEYS) {
    it(`signs the client assertion with a key of ${what} by ${algorithm}`, async () => {
      const folder = await newFolder();
      const key = make();
      const keyFile = join(folder, 'key.pem');
      writeFileSync(keyFile, pemOf(key));
      const { handler, seen } = knowing(() => key);
      endpoint.respond(handler);
      const { read } = await start({ kind: 'private_key_jwt', id: 'portico', keyFile, ...settings });
      for (const token of ['a', 'b']) expect(await givenFor(await read('projects', as(token)))).to.equal('exchanged');
      const [first, second] = seen;
      expect(first?.header).to.include({ alg: algorithm, ...('keyId' in settings && { kid: settings.keyId }) });
      // RFC 7523, section 3.
      expect(first?.claims).to.include({ iss: 'portico', sub: 'portico' });
      expect(Number(first?.claims.exp) - Number(first?.claims.iat)).to.be.within(1, 120);
      expect(first?.claims.jti).not.to.equal(second?.claims.jti);
    });
  }

  it('signs with the current key of its file', async () => {
    const folder = await newFolder();
    const keyFile = join(folder, 'key.pem');
    const [first, second] = [newKey(), newKey()];
    writeFileSync(keyFile, pemOf(first));
    let known = first;
    endpoint.respond(knowing(() => known).handler);
    const clock = { now: Date.now() };
    const client = { kind: 'private_key_jwt', id: 'portico', keyFile } as const;
    const { read } = await start(client, {}, () => clock.now);
    await givenFor(await read('projects', as('a')));
    known = second;
    expect(await codeOf(await read('projects', as('b')))).to.equal('502 upstream_credential_rejected');
    writeFileSync(keyFile, pemOf(second));
    clock.now += 5000;
    await givenFor(await read('projects', as('b')));
    // What cannot be used changes nothing.
    writeFileSync(keyFile, 'no key');
    clock.now += 5000;
    await givenFor(await read('projects', as('c')));
  });

  const UNFIT: Readonly<Record<string, readonly [text: () => string, issue: string]>> = {
    'no key': [() => 'no key', 'contains no unencrypted PEM private key'],
    'a short key': [() => pemOf(newRsaKey(1024)), UNFIT_KEY],
    'a key on another curve': [() => pemOf(newKey('secp256k1')), UNFIT_KEY],
  };
  for (const [what, [text, issue]] of Object.entries(UNFIT)) {
    it(`is rejected at startup with ${what}`, async () => {
      const folder = await newFolder();
      const keyFile = join(folder, 'key.pem');
      writeFileSync(keyFile, text());
      const error = await start({ kind: 'private_key_jwt', id: 'portico', keyFile }).then(
        () => expect.fail('it started'),
        (thrown: Error) => thrown,
      );
      expect(error.message).to.contain(`upstreams.tools.credential.client.keyFile: ${issue}`);
    });
  }

  it('shows a certificate, at the endpoint that metadata have for that, and believes its own authorities alone', async () => {
    const folder = await newFolder();
    const authority = await createAuthority();
    const [own, portico] = [await authority.issue(), await authority.issue({ commonName: 'portico' })];
    const seen: unknown[] = [];
    const server = createServer(
      { ...own, ca: authority.ca, requestCert: true, rejectUnauthorized: false },
      async (request, response) => {
        const url = `https://127.0.0.1:${listening.port}`;
        if (request.method === 'GET') {
          const mtls_endpoint_aliases = { token_endpoint: `${url}/mtls` };
          return json({ issuer: url, token_endpoint: `${url}/plain`, mtls_endpoint_aliases })(request, response);
        }
        const body = await bodyOf(request);
        const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject ?? {};
        seen.push([request.url, CN, body.get('client_id'), request.headers.authorization]);
        json(TOKEN)(request, response);
      },
    );
    const listening = await listen(server);
    const issuer = `https://127.0.0.1:${listening.port}`;
    const { ca: caFile, ...files } = writePem(folder, { ca: authority.ca, cert: portico.cert, key: portico.key });
    const tls = { caFile, certFile: files.cert, keyFile: files.key };
    const client = { kind: 'tls_client_auth', id: 'portico' } as const;
    const { read } = await start(client, { tokenUrl: undefined, issuer, tls });
    expect(await givenFor(await read('projects', as('a')))).to.equal('exchanged');
    expect(seen).to.deep.equal([['/mtls', 'portico', 'portico', undefined]]);
    const distrusting = { tokenUrl: undefined, issuer, tls: { ...tls, caFile: undefined } };
    const { read: readWithout } = await start(client, distrusting);
    expect(await codeOf(await readWithout('projects', as('a')))).to.equal('502 upstream_failed');
  });
});
