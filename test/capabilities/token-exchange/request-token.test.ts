import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { CLIENT } from '../../support/authorization/authorization-server.ts';
import { as } from '../../support/authorization/caller.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, inTurn, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { bodyOf, codeOf, echo, gatewayAt, givenFor, type Options, PLATFORM } from './exchanging.ts';

/** What a token endpoint may answer, and what comes of it. */
describe('an authorization server that is not as it should be, over real sockets', () => {
  let platform: HttpUpstream;
  let endpoint: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream(echo);
    endpoint = await startHttpUpstream(json({}));
  });

  const jwt = (claims: object) =>
    ['{"alg":"none"}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
  const TOKEN = { access_token: 'exchanged-for-this', token_type: 'Bearer' };
  const soon = Math.floor(Date.now() / 1000) + 3600;

  const start = (options: Options = {}) =>
    gatewayAt(platform, '', {
      ...options,
      exchange: { issuer: undefined, tokenUrl: `${endpoint.url}/token`, ...options.exchange },
    });

  const FAULTS: Readonly<Record<string, readonly [RequestListener, string]>> = {
    'resets the connection': [(request) => request.socket.resetAndDestroy(), '502 upstream_failed'],
    'says nothing': [() => {}, '504 upstream_timeout'],
    'stalls in its body': [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"access_token":');
      },
      '504 upstream_timeout',
    ],
    'says 500': [json({ error: 'server_error' }, 500), '502 upstream_failed'],
    'says 503': [json({}, 503, { 'retry-after': '7' }), '502 upstream_failed'],
    'says 429': [json({}, 429, { 'retry-after': '7' }), '429 upstream_rate_limited'],
    redirects: [json({}, 302, { location: '/elsewhere' }), '502 upstream_failed'],
    'says 204': [json(undefined, 204), '502 upstream_invalid'],
    'says 404': [json({}, 404), '502 upstream_refused'],
    'says 403': [json({}, 403), '502 upstream_credential_rejected'],
    'says server_error with 400': [json({ error: 'server_error' }, 400), '502 upstream_failed'],
    'sends what is not JSON': [(_request, response) => response.end('{access_token'), '502 upstream_invalid'],
    'sends more than any token takes': [json({ ...TOKEN, more: 'x'.repeat(70_000) }), '502 upstream_invalid'],
    'sends no token': [json({ token_type: 'Bearer' }), '502 upstream_invalid'],
    'sends a token that breaks a header': [json({ ...TOKEN, access_token: 'a\r\nX-Admin: 1' }), '502 upstream_invalid'],
    'sends a token of another type': [json({ ...TOKEN, token_type: 'DPoP' }), '502 upstream_invalid'],
    'sends a refresh token': [
      json({ ...TOKEN, issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }),
      '502 upstream_invalid',
    ],
    'sends a JWT for another audience': [
      json({ ...TOKEN, access_token: jwt({ aud: 'https://elsewhere.example', exp: soon }) }),
      '502 upstream_invalid',
    ],
    'sends a JWT for several others': [
      json({ ...TOKEN, access_token: jwt({ aud: ['a', `${PLATFORM}/`] }) }),
      '502 upstream_invalid',
    ],
    'sends a JWT for nobody': [json({ ...TOKEN, access_token: jwt({ sub: 'ada' }) }), '502 upstream_invalid'],
    'sends a JWT that has ended': [
      json({ ...TOKEN, access_token: jwt({ aud: PLATFORM, exp: 1 }) }),
      '502 upstream_invalid',
    ],
    'sends a token that has ended': [json({ ...TOKEN, expires_in: 0 }), '502 upstream_invalid'],
    'sends one that ends at no number': [json({ ...TOKEN, expires_in: 'soon' }), '502 upstream_invalid'],
  };

  for (const [what, [fault, expected]] of Object.entries(FAULTS)) {
    it(`that ${what} makes the read ${expected}, without a request to the platform or a failure of it`, async () => {
      const log = captureLog('debug');
      const breaker = { failurePercent: 1, minimumCalls: 1, windowMs: 10_000, openMs: 60_000 };
      const { read, gateway } = await start({
        ...{ gateway: { logger: log.logger }, upstream: { breaker } },
        exchange: expected === '504 upstream_timeout' ? { timeoutMs: 200 } : {},
      });
      endpoint.respond(fault);
      const asked = platform.requests.length;
      const response = await read('tools', as('subject-canary'));
      const retryAfter = response.headers.get('retry-after');
      expect(await codeOf(response)).to.equal(expected);
      if (what.includes('429') || what.includes('503')) expect(retryAfter).to.equal('7');
      expect(platform.requests).to.have.length(asked);
      expect(gateway.breakers['tools']).to.equal('closed');
      expect(log.text())
        .to.contain('authorization server: ')
        .and.not.match(/subject-canary|exchanged-for|X-Admin/);
    });
  }

  const OAUTH: Readonly<Record<string, string>> = {
    invalid_grant: '401 credential_rejected',
    invalid_request: '401 credential_rejected',
    login_required: '401 credential_rejected',
    access_denied: '403 access_denied',
    insufficient_scope: '403 access_denied',
    invalid_client: '502 upstream_credential_rejected',
    unauthorized_client: '502 upstream_credential_rejected',
    unsupported_grant_type: '502 upstream_credential_rejected',
    invalid_target: '502 upstream_credential_rejected',
    invalid_scope: '502 upstream_credential_rejected',
    'words of the server': '502 upstream_credential_rejected',
  };
  for (const [error, expected] of Object.entries(OAUTH)) {
    it(`that says ${error} makes the read ${expected}, in Portico's own words`, async () => {
      const log = captureLog('debug');
      const { read } = await start({ gateway: { logger: log.logger } });
      endpoint.respond(json({ error, error_description: 'words of the server' }, 400));
      const response = await read('tools', as('subject'));
      const text = await response.clone().text();
      expect(await codeOf(response)).to.equal(expected);
      expect(`${text}${log.text()}`).not.to.contain('words of the server');
    });
  }

  it('has a breaker of its own, and callers with a token are served', async () => {
    const breaker = { failurePercent: 1, minimumCalls: 1, windowMs: 10_000, openMs: 60_000 };
    const { read, gateway } = await start({ upstream: { breaker } });
    endpoint.respond(inTurn(json({ ...TOKEN, expires_in: 600 }), json({}, 500)));
    await givenFor(await read('projects', as('a')));
    expect(await codeOf(await read('projects', as('b')))).to.equal('502 upstream_failed');
    const asked = endpoint.requests.length;
    const paused = await read('projects', as('b'));
    expect(paused.headers.get('retry-after')).to.equal('60');
    expect(await codeOf(paused)).to.equal('503 breaker_open');
    expect(endpoint.requests).to.have.length(asked);
    await givenFor(await read('projects', as('a')));
    expect(gateway.breakers['projects']).to.equal('closed');
  });

  it('does not delay callers with a token while it is slow', async () => {
    const { read } = await start({ upstream: { connections: 1 } });
    endpoint.respond(inTurn(json({ ...TOKEN, expires_in: 600 }), () => {}));
    await givenFor(await read('projects', as('a')));
    const asked = endpoint.requests.length;
    const waiting = new AbortController();
    const held = read('projects', { ...as('b'), signal: waiting.signal }).catch(() => 'left');
    await eventually(() => endpoint.requests.length > asked || undefined);
    await givenFor(await read('projects', as('a')));
    waiting.abort();
    expect(await held).to.equal('left');
  });

  /** How long a token is used, in seconds, by what says how long it holds. */
  const LIFETIMES: readonly [what: string, response: object | ((now: number) => object), seconds: number][] = [
    ['expires_in', { ...TOKEN, expires_in: 100 }, 70],
    ['expires_in as text', { ...TOKEN, expires_in: '100' }, 70],
    ['a huge expires_in, by maxAgeMs', { ...TOKEN, expires_in: 1e300 }, 3600],
    ['nothing', TOKEN, 60],
    ['the exp of a JWT', (now) => ({ ...TOKEN, access_token: jwt({ aud: [PLATFORM, 'b'], exp: now + 100 }) }), 70],
    ['the lesser of both', { ...TOKEN, expires_in: 50, access_token: jwt({ aud: PLATFORM, exp: soon }) }, 20],
  ];
  for (const [what, response, seconds] of LIFETIMES) {
    it(`has its token used until 30 s before its end, as given by ${what}`, async () => {
      const clock = { now: 1000 * Math.floor(Date.now() / 1000) };
      const { read } = await start({ gateway: { now: () => clock.now } });
      endpoint.respond(json(typeof response === 'function' ? response(clock.now / 1000) : response));
      const before = endpoint.requests.length;
      const exchangesAt = async (later: number) => {
        clock.now += later * 1000;
        await givenFor(await read('projects', as('a')));
        return endpoint.requests.length - before;
      };
      expect(await exchangesAt(0)).to.equal(1);
      expect(await exchangesAt(seconds - 10)).to.equal(1);
      expect(await exchangesAt(13)).to.equal(2);
    });
  }

  it("has no token used beyond the end of the caller's own", async () => {
    const clock = { now: Date.now() };
    const { read } = await start({ gateway: { now: () => clock.now } });
    endpoint.respond(json({ ...TOKEN, expires_in: 3600 }));
    const token = jwt({ exp: Math.floor(clock.now / 1000) + 100 });
    await givenFor(await read('projects', as(token)));
    const before = endpoint.requests.length;
    clock.now += 90_000;
    await givenFor(await read('projects', as(token)));
    expect(endpoint.requests).to.have.length(before);
    clock.now += 20_000;
    await givenFor(await read('projects', as(token)));
    expect(endpoint.requests).to.have.length(before + 1);
  });

  it('receives the parameters of RFC 8693, once for all concurrent reads', async () => {
    const posted: { readonly authorization: string | undefined; readonly body: URLSearchParams }[] = [];
    endpoint.respond(async (request, response) => {
      posted.push({ authorization: request.headers.authorization, body: await bodyOf(request) });
      setTimeout(() => json(TOKEN)(request, response), 20);
    });
    const client = { kind: 'client_secret_basic', id: 'a client', secret: 'p:w%' } as const;
    const exchange = { audience: 'them', scopes: ['a', 'b'], subjectTokenType: 'jwt' as const, client };
    const { read } = await start({ exchange });
    await Promise.all([1, 2, 3].map(async () => givenFor(await read('projects', as('the.subject')))));
    expect(posted).to.have.length(1);
    expect(Object.fromEntries(posted[0]?.body ?? [])).to.deep.equal({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 'the.subject',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'them',
      resource: PLATFORM,
      scope: 'a b',
    });
    // RFC 6749, section 2.3.1: form-encoded, then base64.
    expect(posted[0]?.authorization).to.equal(`Basic ${Buffer.from('a+client:p%3Aw%25').toString('base64')}`);
  });

  it('leaves no token and no secret in log, gateway or answer', async () => {
    const log = captureLog('debug');
    const { read, gateway } = await start({ gateway: { logger: log.logger } });
    endpoint.respond(json({ ...TOKEN, expires_in: 600 }));
    await read('tools', as('subject-canary'));
    expect(await givenFor(await read('tools', as('subject-canary')))).to.equal(TOKEN.access_token);
    await gateway.close();
    const said = `${log.text()}${inspect(gateway, { depth: 9, showHidden: true })}${JSON.stringify(gateway)}`;
    expect(log.text()).to.contain('"upstream":"tools.exchange"');
    for (const secret of ['subject-canary', TOKEN.access_token, CLIENT.secret]) expect(said).not.to.contain(secret);
  });
});
