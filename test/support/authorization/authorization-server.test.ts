import { expect } from 'chai';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  type AuthorizationServer,
  CLIENT,
  SUBJECT,
  startAuthorizationServer,
  TOKEN_EXCHANGE,
} from './authorization-server.ts';

const RESOURCE = 'https://portico.example/mcp';
const PLATFORM = 'https://platform.example/';
const REDIRECT = 'http://127.0.0.1/callback';

describe('authorization server of the tests', () => {
  let server: AuthorizationServer;

  beforeEach(async () => {
    server = await startAuthorizationServer();
  });

  async function post(url: string, body: Record<string, string>, client: { id: string; secret: string } = CLIENT) {
    const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
    const response = await fetch(url, { method: 'POST', headers: { authorization }, body: new URLSearchParams(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  const verify = (token: string) =>
    jwtVerify(token, createRemoteJWKSet(new URL(server.endpoints.jwks)), { issuer: server.issuer, typ: 'at+jwt' });

  it('tells of itself where RFC 8414 and OpenID Connect have it', async () => {
    for (const path of ['oauth-authorization-server', 'openid-configuration']) {
      const metadata = (await (await fetch(`${server.issuer}/.well-known/${path}`)).json()) as Record<string, unknown>;
      expect(metadata['issuer']).to.equal(server.issuer);
      expect(metadata['token_endpoint']).to.equal(server.endpoints.token);
      expect(metadata['jwks_uri']).to.equal(server.endpoints.jwks);
      expect(metadata['introspection_endpoint']).to.equal(server.endpoints.introspection);
      expect(metadata['registration_endpoint']).to.be.a('string');
      expect(metadata['grant_types_supported']).to.include(TOKEN_EXCHANGE);
    }
  });

  it('gives a client a JWT for the resource that it names', async () => {
    const { status, body } = await post(server.endpoints.token, {
      ...{ grant_type: 'client_credentials', resource: RESOURCE, scope: 'read' },
    });
    expect(status).to.equal(200);
    const { payload } = await verify(String(body['access_token']));
    expect(payload).to.include({ aud: RESOURCE, sub: CLIENT.id, scope: 'read' });
  });

  it('gives a person who signs in a JWT, by authorization code and PKCE, through a client that registers itself', async () => {
    const metadata = (await (await fetch(`${server.issuer}/.well-known/openid-configuration`)).json()) as {
      registration_endpoint: string;
    };
    const registered = await fetch(metadata.registration_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: [REDIRECT],
        application_type: 'native',
        token_endpoint_auth_method: 'none',
      }),
    });
    const { client_id } = (await registered.json()) as { client_id: string };
    const verifier = 'v'.repeat(43);
    const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))).toString(
      'base64url',
    );
    const request = { client_id, response_type: 'code', redirect_uri: REDIRECT, scope: 'read', resource: RESOURCE };
    const query = new URLSearchParams({ ...request, code_challenge: challenge, code_challenge_method: 'S256' });

    const back = await server.signIn(`${server.endpoints.authorization}?${query}`);
    expect(back.href).to.match(/^http:\/\/127\.0\.0\.1\/callback\?/);
    const exchanged = await fetch(server.endpoints.token, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', client_id, redirect_uri: REDIRECT, code_verifier: verifier },
        code: back.searchParams.get('code') ?? '',
      }),
    });
    const { access_token } = (await exchanged.json()) as { access_token: string };
    const { payload } = await verify(access_token);
    expect(payload).to.include({ aud: RESOURCE, sub: SUBJECT, scope: 'read', client_id });
  });

  it('gives opaque tokens, which introspection tells of until they are revoked', async () => {
    const token = await server.issue({ resource: RESOURCE, format: 'opaque', scope: 'read', claims: { tenant: 'a' } });
    expect(token).to.not.include('.');
    const { body } = await post(server.endpoints.introspection, { token });
    expect(body).to.include({ active: true, aud: RESOURCE, sub: SUBJECT, scope: 'read', tenant: 'a' });
    const revoked = await fetch(server.endpoints.revocation, {
      method: 'POST',
      body: new URLSearchParams({ token, client_id: CLIENT.id, client_secret: CLIENT.secret }),
    });
    expect(revoked.status, await revoked.text()).to.equal(200);
    expect((await post(server.endpoints.introspection, { token })).body).to.deep.equal({ active: false });
  });

  it('has clients obtain opaque tokens where it is started so', async () => {
    const other = await startAuthorizationServer({ format: 'opaque' });
    const { body } = await post(other.endpoints.token, { grant_type: 'client_credentials', resource: RESOURCE });
    const { access_token: token = '' } = body;
    const told = await post(other.endpoints.introspection, { token: String(token) });
    expect(told.body).to.include({ active: true, client_id: CLIENT.id, aud: RESOURCE });
  });

  it('issues at once what a test asks for', async () => {
    const seconds = 5;
    const token = await server.issue({ resource: RESOURCE, subject: 'eve', claims: { tenant: 'b' }, seconds });
    const { payload } = await verify(token);
    expect(payload).to.include({ aud: RESOURCE, sub: 'eve', scope: 'read admin', tenant: 'b' });
    expect(Number(payload.exp) - Number(payload.iat)).to.equal(seconds);
  });

  it('signs any claims, and none beside them', async () => {
    const token = await server.sign({ iss: server.issuer, sub: 'eve' }, { typ: 'JWT', kid: 'no-such' });
    expect(decodeJwt(token)).to.deep.equal({ iss: server.issuer, sub: 'eve' });
    expect(decodeProtectedHeader(token)).to.deep.equal({ alg: 'ES256', typ: 'JWT', kid: 'no-such' });
    await verify(await server.sign({ iss: server.issuer }));
  });

  for (const format of ['jwt', 'opaque'] as const) {
    it(`exchanges a token (${format}) for one of the same person for another audience, with no scope more`, async () => {
      const subject_token = await server.issue({ resource: RESOURCE, scope: 'read', subject: 'eve', format });
      const exchange = {
        ...{ grant_type: TOKEN_EXCHANGE, subject_token, audience: PLATFORM },
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      };
      const { status, body } = await post(server.endpoints.token, exchange);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.include({ issued_token_type: exchange.subject_token_type, token_type: 'Bearer', scope: 'read' });
      const { payload } = await verify(String(body['access_token']));
      expect(payload).to.include({ aud: PLATFORM, sub: 'eve', scope: 'read' });

      const more = await post(server.endpoints.token, { ...exchange, scope: 'read admin' });
      expect(more).to.deep.include({ status: 400 });
      expect(more.body['error']).to.equal('invalid_scope');
    });
  }

  it('exchanges neither what it did not issue nor for whoever is not its client', async () => {
    const stranger = await startAuthorizationServer();
    const exchange = {
      ...{ grant_type: TOKEN_EXCHANGE, audience: PLATFORM },
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
    for (const subject_token of [await stranger.issue({ resource: RESOURCE }), 'made-up']) {
      const { status, body } = await post(server.endpoints.token, { ...exchange, subject_token });
      expect([status, body['error']]).to.deep.equal([400, 'invalid_request']);
    }
    const subject_token = await server.issue({ resource: RESOURCE });
    const untargeted = await post(server.endpoints.token, { ...exchange, audience: '', subject_token });
    expect([untargeted.status, untargeted.body['error']]).to.deep.equal([400, 'invalid_target']);
    const refused = await post(server.endpoints.token, { ...exchange, subject_token }, { ...CLIENT, secret: 'wrong' });
    expect([refused.status, refused.body['error']]).to.deep.equal([401, 'invalid_client']);
  });

  it('rotates its keys, and forgets those before or still publishes them', async () => {
    const jwks = async () => ((await (await fetch(server.endpoints.jwks)).json()) as { keys: object[] }).keys;
    const first = await server.issue({ resource: RESOURCE });
    await server.rotateKeys({ keepOld: true });
    const second = await server.issue({ resource: RESOURCE });
    expect(decodeProtectedHeader(second).kid).to.not.equal(decodeProtectedHeader(first).kid);
    await verify(first);
    await verify(second);
    expect(await jwks()).to.have.length(2);

    await server.rotateKeys();
    expect(await jwks()).to.have.length(1);
    const refused = await verify(second).then(
      () => 'verified',
      (error: { code: string }) => error.code,
    );
    expect(refused).to.equal('ERR_JWKS_NO_MATCHING_KEY');
  });

  it('keeps opaque tokens and clients over a rotation', async () => {
    const token = await server.issue({ resource: RESOURCE, format: 'opaque' });
    await server.rotateKeys();
    expect((await post(server.endpoints.introspection, { token })).body).to.include({ active: true });
  });

  it('goes down, and comes back on the same port', async () => {
    await server.refuse();
    const failed = await fetch(server.endpoints.jwks).catch((error: Error) => error.message);
    expect(failed).to.equal('fetch failed');
    await server.accept();
    expect((await fetch(server.endpoints.jwks)).status).to.equal(200);
  });

  it('responds as it is told, to one path or to all, until it is itself again', async () => {
    server.respond((_request, response) => response.end('garbage'), '/jwks');
    expect(await (await fetch(server.endpoints.jwks)).text()).to.equal('garbage');
    expect((await fetch(`${server.issuer}/.well-known/openid-configuration`)).status).to.equal(200);
    server.respond(() => {});
    server.respond(undefined, '/jwks');
    const hung = await fetch(server.endpoints.jwks, { signal: AbortSignal.timeout(50) }).catch(({ name }) => name);
    expect(hung).to.equal('TimeoutError');
    server.respond(undefined);
    expect((await fetch(server.endpoints.jwks)).status).to.equal(200);
    expect(server.requests.map(({ url }) => url)).to.include('/jwks');
  });
});
