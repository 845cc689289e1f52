import type { IncomingMessage, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { SettingsInput } from '../../../src/gateway.ts';
import { settingsFor, startGateway, TOKEN } from '../../support/gateway.ts';
import { json, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';

type Credential = NonNullable<SettingsInput['upstreams'][string]['credential']>;
type Session = Extract<Credential, { kind: 'session' }>;

interface Login {
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A platform with a login of its own: `reply` answers with the token of that number, and `sent` finds a token in a request. */
async function startPlatform(
  reply: (token: string) => RequestListener,
  sent: (request: IncomingMessage) => string | undefined,
) {
  const logins: Login[] = [];
  const valid = new Set<string | undefined>();
  let status: number | undefined;
  const list = lists({ tools: [{ id: 'a', name: 'A' }] });
  const platform = await startHttpUpstream(async (request, response) => {
    if (request.url === '/login') {
      logins.push({ authorization: request.headers.authorization, body: await text(request) });
      if (status !== undefined) return json({}, status)(request, response);
      const token = `session-${logins.length}`;
      valid.add(token);
      return reply(token)(request, response);
    }
    return valid.has(sent(request)) ? list(request, response) : json({}, 401)(request, response);
  });
  return {
    platform,
    logins,
    revoke: () => valid.clear(),
    refuseLogins: (with_: number | undefined) => {
      status = with_;
    },
  };
}

const bearer = ({ headers }: IncomingMessage) => headers.authorization?.replace('Bearer ', '');
const wazuh = () => startPlatform((token) => json({ data: { token } }), bearer);
const BASIC: Partial<Session> = { user: 'portico', token: 'data.token' };

async function start(url: string, credential: Partial<Session>, now?: () => number) {
  const session: Session = { kind: 'session', secret: 'hush', loginUrl: `${url}/login`, ...credential };
  const settings = { ...settingsFor(url, { upstream: { credential: session } }), allowUnverifiedCallers: true };
  const uncached = { resources: { tools: { cache: { ttlMs: 0 } } } };
  const { read } = await startGateway({ ...settings, ...uncached }, now && { now });
  return async (caller = TOKEN) => {
    const response = await read('tools', { headers: { authorization: `Bearer ${caller}` } });
    const { code, detail } = (await response.json()) as { code?: string; detail?: string };
    return { status: response.status, code, detail };
  };
}

describe('the login of a session', () => {
  it('is one for all callers at once, and its token is used until the end of its lifetime', async () => {
    const { platform, logins } = await wazuh();
    let time = 1_800_000_000_000;
    const read = await start(platform.url, { ...BASIC, lifetimeMs: 900_000 }, () => time);
    const reads = await Promise.all(Array.from({ length: 20 }, (_, index) => read(`caller-${index}`)));
    expect(reads.map(({ status }) => status)).to.deep.equal(reads.map(() => 200));
    expect(logins).to.deep.equal([
      { authorization: `Basic ${Buffer.from('portico:hush').toString('base64')}`, body: '' },
    ]);
    time += 869_000;
    await read();
    expect(logins).to.have.length(1);
    time += 2000;
    await read();
    expect(logins).to.have.length(2);
  });

  it('may be JSON, with the token in a header of its own', async () => {
    const { platform, logins } = await startPlatform(
      (token) => json({ token }, 201),
      ({ headers }) => String(headers['x-redlock-auth']),
    );
    const body = { username: '{user}', password: '{secret}', more: { nested: ['{secret}!', 1] } };
    const read = await start(platform.url, { user: 'key"id', body, name: 'X-Redlock-Auth' });
    expect(await read()).to.include({ status: 200 });
    expect(JSON.parse(logins[0]?.body ?? '')).to.deep.equal({
      ...{ username: 'key"id', password: 'hush', more: { nested: ['hush!', 1] } },
    });
  });

  it('may return the token in a header, or as a number', async () => {
    const { platform } = await startPlatform(
      (token) => json({}, 201, { 'x-subject-token': token }),
      ({ headers }) => String(headers['x-auth-token']),
    );
    const inHeader = { user: 'portico', token: 'header.X-Subject-Token', name: 'X-Auth-Token' };
    expect(await (await start(platform.url, inHeader))()).to.include({ status: 200 });
    const numbered = await startPlatform(
      () => json({ response: { token: 1_234_567_890 } }),
      (request) => (bearer(request) === '1234567890' ? 'session-1' : undefined),
    );
    const read = await start(numbered.platform.url, { user: 'portico', token: 'response.token' });
    expect(await read()).to.include({ status: 200 });
  });

  it('may set a cookie, of which the last one counts, as for browsers', async () => {
    const { platform } = await startPlatform(
      (token) => json({}, 200, { 'set-cookie': ['sid=deleteMe; Max-Age=0', `sid=${token}; Path=/; HttpOnly`] }),
      ({ headers }) => headers.cookie?.replace('sid=', ''),
    );
    const read = await start(platform.url, { user: 'portico', cookie: 'sid' });
    expect(await read()).to.include({ status: 200 });
  });

  it('is repeated once after a 401, and not for each read of a platform that refuses the new token, too', async () => {
    const { platform, logins, revoke } = await wazuh();
    let time = 1_800_000_000_000;
    const read = await start(platform.url, BASIC, () => time);
    await read();
    revoke();
    time += 10_000;
    expect(await read()).to.include({ status: 200 });
    expect(logins).to.have.length(2);
    revoke();
    for (let count = 0; count < 5; count += 1) {
      expect(await read()).to.include({ status: 502, code: 'upstream_credential_rejected' });
    }
    expect(logins).to.have.length(2);
  });

  it("that is refused is the operator's error, and is not repeated for 30 s", async () => {
    const { platform, logins, refuseLogins } = await wazuh();
    let time = 1_800_000_000_000;
    const read = await start(platform.url, BASIC, () => time);
    for (const status of [400, 401, 403]) {
      refuseLogins(status);
      const before = logins.length;
      const [refused, again] = [await read(), await read('another')];
      for (const { detail, ...rest } of [refused, again]) {
        expect(rest).to.deep.equal({ status: 502, code: 'upstream_credential_rejected' });
        expect(detail).to.match(/obtained no token/);
      }
      expect(logins).to.have.length(before + 1);
      time += 30_000;
    }
    refuseLogins(undefined);
    expect(await read()).to.include({ status: 200 });
  });

  it('that fails or returns no token is an error of the upstream', async () => {
    for (const [reply, code] of [
      [json({}, 500), 'upstream_failed'],
      [json({}, 404), 'upstream_refused'],
      [json({ data: {} }), 'upstream_invalid'],
      [json({ data: { token: 'a\u00e9' } }), 'upstream_invalid'],
      [json({}, 302, { location: 'http://127.0.0.1:9/' }), 'upstream_failed'],
      [((_request, response) => response.end('<html>')) as RequestListener, 'upstream_invalid'],
    ] as const) {
      const { platform } = await startPlatform(() => reply, bearer);
      const read = await start(platform.url, BASIC);
      expect(await read()).to.include({ status: 502, code });
    }
  });
});
