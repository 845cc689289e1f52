import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { AUDIENCE, createSigner, sign, startIssuer, type TestIssuer } from '../../support/authorization/issuer.ts';
import { eventually } from '../../support/eventually.ts';
import { json, listOf, lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { observeHeap } from '../../support/process/heap-strings.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import { newFolder } from '../../support/process/process.ts';
import { startServing } from '../../support/process/serving.ts';
import { exchange, get, openConnection } from '../../support/raw-http.ts';
import { callOf, postText } from '../../support/rpc.ts';
import { inLanes, marksIn, newMark, onceClean, tracesOf } from './canary.ts';

/** Stands in every token and secret, and nowhere else. */
const MARK = newMark();
const ROUNDS = 6;

type Respond = (token: string, request: IncomingMessage, response: ServerResponse) => void;

const plain =
  (status: number, body: (token: string) => string, headers: Record<string, string> = {}): Respond =>
  (token, _, response) => {
    response.writeHead(status, { 'X-Echo': token, 'WWW-Authenticate': `Bearer realm="${token}"`, ...headers });
    response.end(body(token));
  };

/** What a server does that is asked about a token, or for one in its place: most of it says the token again. */
const FAULTS: Readonly<Record<string, Respond>> = {
  refusing: plain(400, (token) => JSON.stringify({ error: 'invalid_grant', error_description: token })),
  wording: plain(400, (token) => JSON.stringify({ error: token, error_uri: `https://a.example/${token}` })),
  unknowing: plain(401, (token) => JSON.stringify({ error: 'invalid_client', error_description: token })),
  failing: plain(500, (token) => token),
  garbling: plain(200, (token) => `{"active": ${token}`),
  listing: plain(200, (token) => JSON.stringify([token])),
  moving: (token, _, response) => response.writeHead(302, { Location: `http://127.0.0.1:9/${token}` }).end(),
  cutting: (token, _, response) =>
    response.writeHead(200, { 'Content-Length': '1000' }).write(token, () => response.destroy()),
  resetting: (_token, { socket }) => socket.resetAndDestroy(),
};

/** What the issuer knows of an opaque token, which is `<mark>.<kind>.<number>`. */
const KNOWN: Readonly<Record<string, Respond>> = {
  active: (token, ...rest) => json({ active: true, aud: AUDIENCE, scope: token, username: token })(...rest),
  inactive: (token, ...rest) => json({ active: false, username: token })(...rest),
  elsewhere: (token, ...rest) => json({ active: true, aud: token })(...rest),
  ...FAULTS,
};

/** What the authorization server gives for a token. What is given is used once: it ends too soon to be kept. */
const GIVEN: Readonly<Record<string, Respond>> = {
  exchanged: (token, ...rest) => json({ ...BEARER, access_token: `${token}.given` })(...rest),
  unusable: (token, ...rest) => json({ ...BEARER, access_token: `${token} given` })(...rest),
  another: (token, ...rest) => json({ ...BEARER, token_type: token, access_token: `${token}.given` })(...rest),
  // The issuer knows nothing against these.
  ...Object.fromEntries(Object.entries(FAULTS).map(([kind, respond]) => [`then-${kind}`, respond])),
};
const BEARER = { token_type: 'Bearer', expires_in: 20, refresh_token: `${MARK}.refresh` };

/** What the platform does with what was given. */
const echo: RequestListener = (request, response) => {
  const token = String(request.headers['x-key'] ?? tokenOf(request));
  if (/1\.(?:given|acme)$/.test(token)) json({ error: token }, 401, { 'X-Echo': token })(request, response);
  else if (/2\.(?:given|acme)$/.test(token)) json({ error: token }, 500)(request, response);
  else lists({ [listOf(request)]: [toolItem('one')] })(request, response);
};

const settings = (issuer: string, server: string, platform: string) => `
log: { level: debug }
http: { port: 0 }
admin: { port: 0 }
publicUrl: https://portico.example
verification:
  issuer: ${issuer}
  audience: ${AUDIENCE}
  authorizationServers: ["${issuer}"]
  partitionClaim: tenant
  introspection: { clientId: portico, secret: "\${SECRET}" }
upstreams:
  acme:
    baseUrl: ${platform}
    credential: { kind: header, name: X-Key, from: X-Acme-Token }
    breaker: { failurePercent: 99, minimumCalls: 100000 }
  exchanged:
    baseUrl: ${platform}
    credential:
      kind: exchange
      tokenUrl: ${server}/token
      audience: api
      client: { kind: client_secret_post, id: portico, secret: "\${SECRET}" }
    breaker: { failurePercent: 99, minimumCalls: 100000 }
    retry: { baseDelayMs: 1 }
resources:
  projects: { upstream: exchanged }
  workflows: { upstream: exchanged, requiredScopes: [admin] }
  tools: { upstream: acme }
`;

/** The access token, and another credential for one of the platforms, which some have in a wrong place, too. */
function credentials(token: string): Record<string, string> {
  const number = /\d/.exec(token.slice(MARK.length))?.[0] ?? '0';
  const acme = `${MARK}.${number}.acme`;
  return { Authorization: `Bearer ${token}`, 'X-Acme-Token': acme, 'X-Request-Id': number === '3' ? acme : number };
}

const call = (token: string, name: string) => postText(callOf(name), credentials(token));
const read = (token: string, name: string) => get(`/mcp/v1/resources/read?uri=platform://${name}`, credentials(token));

/** Tokens that the issuer signed, and others that it did not, as callers bring them. */
async function signedTokens(issuer: TestIssuer, jti: string): Promise<string[]> {
  const own = { jti, tenant: jti };
  return [
    await issuer.token(own),
    await issuer.token({ ...own, exp: 1 }),
    await issuer.token({ ...own, aud: jti }),
    await issuer.token({ ...own, iss: `https://${jti}.example` }),
    await issuer.token(own, { kid: jti }),
    await issuer.token(own, { typ: jti, jku: `https://${jti}.example` }),
    await sign(await createSigner('ES256'), { ...own, iss: issuer.issuer, aud: AUDIENCE, exp: 9e9 }),
  ];
}

describe('tokens that are verified, introspected and exchanged, under every fault', function () {
  this.timeout(180_000);
  const tokens: string[] = [];
  /** Of them, the JWTs: the mark stands in them in base64. */
  const signed: string[] = [];
  const answers: string[] = [];
  let written: Readonly<Record<string, string>>;
  let outcomes: ReadonlySet<string | undefined>;
  let held: string[];
  let heldWhileOpen: string;
  let hung: (() => void) | undefined;

  /** What names a token: a mark in clear, or the signature that it has for itself. */
  const namesOf = () => [MARK, ...new Set(signed.map((token) => token.slice(-60, -30)))];

  before(async () => {
    const platform = await startHttpUpstream(echo, { record: false });
    const issuer = await startIssuer();
    const asked =
      (by: Readonly<Record<string, Respond>>, field: string): RequestListener =>
      async (request, response) => {
        const token = new URLSearchParams(await text(request)).get(field) ?? '';
        const kind = token.split('.')[1] ?? '';
        if (kind === 'hanging') hung = () => void response.destroy();
        else (by[kind] ?? KNOWN['active'])?.(token, request, response);
      };
    const introspect = asked(KNOWN, 'token');
    // A token that the issuer signed stands for itself: those of the exchange are opaque.
    const give = asked(GIVEN, 'subject_token');
    const server = await startHttpUpstream(give, { record: false });
    issuer.respond((request, response) => {
      const { url } = issuer;
      if (request.url === '/introspect') introspect(request, response);
      else if (request.url === '/jwks') json({ keys: issuer.signers.map(({ jwk }) => jwk) })(request, response);
      else
        json({ issuer: url, jwks_uri: `${url}/jwks`, introspection_endpoint: `${url}/introspect` })(request, response);
    });
    const folder = await newFolder();
    const heap = await observeHeap(folder);
    const SECRET = `${MARK}.secret`;
    const own = { SECRET, NODE_OPTIONS: heap.nodeOptions };
    const { yaml, env } = boundedSettings(settings(issuer.issuer, server.url, platform.url), own);
    const portico = await startServing(yaml, env);
    const { url, adminUrl } = portico;

    for (let round = 0; round < ROUNDS; round += 1) {
      const kinds = [...Object.keys(KNOWN), ...Object.keys(GIVEN)];
      // Enough good ones beside them, so that the breaker in front of introspection lets all of them be asked about.
      const opaque = kinds.flatMap((kind) => [`${MARK}.${kind}.${round}`, `${MARK}.active.${round}${kind}`]);
      signed.push(...(await signedTokens(issuer, `${MARK}.${round}`)));
      tokens.push(...opaque, ...signed.slice(-7));
    }
    const requests = tokens.flatMap((token) => [
      ...['tools', 'projects', 'workflows'].map((name) => read(token, name)),
      ...['list_projects', 'list_installed_tools'].map((name) => call(token, name)),
    ]);
    await inLanes(requests.length, async (number) => {
      const { status, headers, body } = await exchange(url, requests[number] ?? '');
      answers.push(`${status} ${JSON.stringify([...headers])} ${body}`);
    });
    const pages = await Promise.all(['/metrics', '/status'].map((path) => exchange(adminUrl, get(path))));
    const connection = openConnection(url);
    connection.send(read(`${MARK}.hanging.0`, 'tools'));
    await eventually(() => hung !== undefined);
    heldWhileOpen = marksIn(await heap.take(portico.child), MARK).join();
    connection.socket.destroy();
    hung?.();
    held = await onceClean(async () => {
      const heapText = await heap.take(portico.child);
      return namesOf()
        .flatMap((name) => marksIn(heapText, name))
        .filter((each) => !each.startsWith(SECRET));
    });
    const { stdout: log, stderr } = await portico.stop();
    written = { log, stderr, ...Object.fromEntries(pages.map(({ body }, index) => [`page ${index}`, `${body}`])) };
    outcomes = new Set([...log.matchAll(/"outcome":"(\w+)"/g)].map(([, outcome]) => outcome));
  });

  it('end in every possible outcome', () => {
    expect([...outcomes]).to.include.members([
      ...['ok', 'credential_rejected', 'access_denied', 'verifier_unavailable', 'upstream_credential_rejected'],
      ...['upstream_failed', 'upstream_invalid'],
    ]);
    expect(outcomes).not.to.include('internal');
    expect(answers).to.have.length(tokens.length * 5);
  });

  it('do not appear in a log line, page, metric or response, and neither do the exchanged tokens', () => {
    const traces = [...tracesOf(MARK, tokens), ...namesOf()];
    const all = { ...written, answers: answers.join('\n') };
    for (const [where, told] of Object.entries(all)) {
      const found = traces.filter((trace) => told.includes(trace));
      expect(found, where).to.deep.equal([]);
    }
    expect(written['log']).to.contain('"level":"debug"');
    expect(written['stderr']).to.equal('');
  });

  it('are in no string of the heap after their requests end', () => {
    // That it can be found: the issuer has not answered about this one yet.
    expect(heldWhileOpen).to.contain(`${MARK}.hanging.0`);
    expect(held).to.deep.equal([]);
  });
});
