import { createHmac, createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import { as } from '../../support/authorization/caller.ts';
import {
  AUDIENCE,
  claimsOf,
  createSigner,
  type Signer,
  sign,
  startIssuer,
  type TestClaims,
} from '../../support/authorization/issuer.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { rpc } from '../../support/rpc.ts';

type VerificationInput = NonNullable<TestSettings['verification']>;

interface SettingsOptions {
  readonly verification?: Partial<VerificationInput>;
  readonly requiredScopes?: Readonly<Record<string, readonly string[]>>;
  readonly rest?: Partial<TestSettings>;
}

/** Settings of a gateway that takes the tokens of this issuer. */
function verifying(issuer: string, baseUrl: string, options: SettingsOptions = {}): TestSettings {
  const { verification = {}, requiredScopes = {}, rest = {} } = options;
  const scoped = (name: string) => ({ requiredScopes: [...(requiredScopes[name] ?? [])] });
  return settingsFor(baseUrl, {
    upstream: { credential: { kind: 'none' } },
    verification: { issuer, audience: AUDIENCE, ...verification },
    resources: { projects: scoped('projects'), workflows: scoped('workflows'), tools: scoped('tools') },
    ...rest,
  });
}

async function platform() {
  return startHttpUpstream(lists({ projects: [toolItem('p')], workflows: [toolItem('w')], tools: [toolItem('t')] }));
}

async function scene(options: SettingsOptions = {}, signer?: Signer) {
  const [issuer, upstream] = await Promise.all([startIssuer(signer), platform()]);
  const running = await startGateway(verifying(issuer.issuer, upstream.url, options));
  return { ...running, issuer, asked: () => upstream.requests.length };
}

type Scene = Awaited<ReturnType<typeof scene>>;

async function problemOf(response: Response): Promise<{ code: string; detail: string }> {
  return (await response.json()) as { code: string; detail: string };
}

const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

describe('a gateway that verifies tokens', () => {
  it('stores one list for all callers of an upstream without caller credentials, and still checks scopes', async () => {
    const { gateway, read, issuer, asked } = await scene({
      requiredScopes: { tools: ['tools:read'] },
      rest: { admin: { port: 0 } },
    });
    const held = async () =>
      ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { snapshots: { entries: number } }).snapshots
        .entries;
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((sub) => issuer.token({ sub, scope: 'tools:read' })));
    const carol = await issuer.token({ sub: 'carol' });
    for (const token of [alice, bob, alice, bob]) expect((await read('tools', as(`${token}`))).status).to.equal(200);
    expect((await read('tools', as(carol))).status).to.equal(403);
    expect((await read('workflows', as(carol))).status).to.equal(200);
    // Each is let in by a load of its own, and what they load takes the place of what is there.
    expect([asked(), await held()]).to.deep.equal([3, 2]);
  });

  it('accepts a token without kid where its issuer has one key, and says why where it has several', async () => {
    const { issuer, read } = await scene({ verification: { keys: { cooldownMs: 1 } } });
    const [signer = expect.fail('the issuer has no key')] = issuer.signers;
    const token = await sign({ ...signer, kid: undefined }, claimsOf(issuer.issuer));
    expect((await read('tools', as(token))).status).to.equal(200);
    const several = await scene();
    several.issuer.signers = [signer, await createSigner('ES256', 'another')];
    const again = await sign({ ...signer, kid: undefined }, claimsOf(several.issuer.issuer));
    expect(await (await several.read('tools', as(again))).text()).to.contain('does not name the key');
  });
});

describe('an invalid token', () => {
  let running: Scene;
  let rsa: Signer;

  before(async () => {
    rsa = await createSigner('RS256', 'first');
    running = await scene({ verification: { type: 'at+jwt', leewayMs: 60_000, keys: { cooldownMs: 1 } } }, rsa);
  });

  /** In seconds, from now. */
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
  const good = (claims: TestClaims = {}): TestClaims => ({ ...claimsOf(running.issuer.issuer), ...claims });

  /** A token of these parts; `signed` makes the signature of what is signed. */
  const made = (header: object, claims: object, signed: (input: string) => string) => {
    const input = `${base64(header)}.${base64(claims)}`;
    return `${input}.${signed(input)}`;
  };
  const byPublicKey = () => {
    const pem = createPublicKey({ key: rsa.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    return made({ alg: 'HS256', typ: 'at+jwt', kid: 'first' }, good(), (input) =>
      createHmac('sha256', pem).update(input).digest('base64url'),
    );
  };
  const parts = async () => (await sign(rsa, good())).split('.') as [string, string, string];

  const REJECTED: Readonly<Record<string, () => Promise<string> | string>> = {
    'alg none, without a signature': () => made({ alg: 'none', typ: 'at+jwt' }, good(), () => ''),
    'HS256 by the public key as PEM': byPublicKey,
    'another algorithm for the same key': async () => {
      const [, claims, signature] = await parts();
      return `${base64({ alg: 'PS256', typ: 'at+jwt', kid: 'first' })}.${claims}.${signature}`;
    },
    'a key of its own in jwk': async () => {
      const own = await createSigner('RS256', 'first');
      const { kty, n, e } = own.jwk;
      return sign(own, good(), { jwk: { kty, n, e } });
    },
    'a key of its own behind jku': async () => {
      const own = await createSigner('RS256', 'own');
      return sign(own, good(), { jku: `${running.issuer.url}/attacker` });
    },
    'the kid of a good key, and another key': async () => sign(await createSigner('RS256', 'first'), good()),
    'a kid that is an URL': async () => sign({ ...rsa, kid: `${running.issuer.url}/attacker` }, good()),
    'a kid that is no text': async () => sign({ ...rsa, kid: { $ne: '' } as never }, good()),
    'claims that were changed': async () => {
      const [header, , signature] = await parts();
      return `${header}.${base64(good({ sub: 'mallory' }))}.${signature}`;
    },
    'the type of an ID token': () => sign(rsa, good(), { typ: 'JWT' }),
    'an end that has come': () => sign(rsa, good({ exp: inSeconds(-600) })),
    'no end': () => sign(rsa, good({ exp: undefined })),
    'a beginning that is to come': () => sign(rsa, good({ nbf: inSeconds(600) })),
    'another audience': () => sign(rsa, good({ aud: 'https://other.example/mcp' })),
    'an audience that is an object': () => sign(rsa, good({ aud: { [AUDIENCE]: true } })),
    'no audience': () => sign(rsa, good({ aud: undefined })),
    'no issuer': () => sign(rsa, good({ iss: undefined })),
    'the issuer with a slash': () => sign(rsa, good({ iss: `${running.issuer.issuer}/` })),
    'a key that it is bound to': () => sign(rsa, good({ cnf: { jkt: 'x' } })),
    'a subject that is no text': () => sign(rsa, good({ sub: ['alice'] })),
    'no form of a JWT at all': () => 'opaque',
  };

  for (const [name, token] of Object.entries(REJECTED)) {
    it(`is rejected with 401 over both edges: ${name}`, async () => {
      const value = await token();
      for (const response of [
        await running.read('tools', as(value)),
        await fetch(`${running.url}/mcp/v1/resources`, as(value)),
        await running.post(rpc('ping'), as(value).headers),
        await fetch(`${running.url}/mcp`, as(value)),
      ]) {
        expect(response.status).to.equal(401);
        expect(response.headers.get('www-authenticate')).to.contain('error="invalid_token"');
        const text = await response.text();
        expect(JSON.parse(text)).to.include({ code: 'credential_rejected' });
        expect(text).not.to.contain(value);
      }
    });
  }

  it('is accepted without the fault', async () => {
    for (const token of [
      await sign(rsa, good()),
      await sign(rsa, good({ aud: ['x', AUDIENCE] })),
      await sign({ ...rsa, kid: undefined }, good()),
      await sign(rsa, good(), { typ: 'application/at+jwt' }),
      await sign(rsa, good({ exp: inSeconds(-30) })),
    ]) {
      expect((await running.read('tools', as(token))).status).to.equal(200);
    }
  });

  it('causes no request to the platform', () => {
    expect(running.asked()).to.be.at.most(6);
    expect(running.issuer.requests.map(({ url }) => url)).not.to.include('/attacker');
  });
});

describe('algorithms', () => {
  it('are those with a public key, even when the issuer publishes a secret', async () => {
    const { read, issuer } = await scene({}, await createSigner('RS256'));
    const other = await createSigner('ES256');
    const secret = Buffer.from('a secret that the issuer has published by mistake');
    const jwk = { kty: 'oct', k: secret.toString('base64url'), kid: 'shared', alg: 'HS256', use: 'sig' };
    issuer.signers = [...issuer.signers, other, { key: secret as never, kid: 'shared', alg: 'HS256', jwk }];
    for (const [index, status] of [200, 200, 401].entries()) {
      const token = await sign(issuer.signers[index] ?? expect.fail(), claimsOf(issuer.issuer));
      expect((await read('tools', as(token))).status).to.equal(status);
    }
  });
});

describe('scopes', () => {
  const requiredScopes = { projects: ['projects:read', 'all:see'], tools: ['tools:read'] };

  const statusOf = async ({ read, issuer }: Scene, name: string, claims: TestClaims) =>
    (await read(name, as(await issuer.token(claims)))).status;

  it('are all required, for the resources that name them', async () => {
    const running = await scene({ requiredScopes });
    expect(await statusOf(running, 'projects', { scope: 'projects:read all:see more' })).to.equal(200);
    for (const claims of [{ scope: 'projects:read' }, { scope: 'projects:read-all:see' }, {}]) {
      expect(await statusOf(running, 'projects', claims)).to.equal(403);
    }
    for (const claims of [{ scp: ['other', 'tools:read'] }, { scope: ['tools:read'], scp: 5 }]) {
      expect(await statusOf(running, 'tools', claims)).to.equal(200);
    }
    expect(await statusOf(running, 'workflows', {})).to.equal(200);
  });
});

describe('a remembered verdict', () => {
  it('expires with the token, plus the leeway', async () => {
    let now = Math.floor(Date.now() / 1000) * 1000;
    const [issuer, upstream] = await Promise.all([startIssuer(), platform()]);
    const settings = verifying(issuer.issuer, upstream.url, { verification: { leewayMs: 1000 } });
    const { read } = await startGateway(settings, { now: () => now });
    const token = await issuer.token({ exp: now / 1000 + 30 });
    expect((await read('tools', as(token))).status).to.equal(200);
    now += 30_500;
    expect((await read('tools', as(token))).status).to.equal(200);
    now += 1500;
    const ended = await read('tools', as(token));
    expect(ended.status).to.equal(401);
    expect((await problemOf(ended)).detail).to.contain('it has expired');
  });
});
