import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { type HttpUpstream, json, startHttpUpstream } from '../platform/http-upstream.ts';

/** Whom the tokens of a test are for. */
export const AUDIENCE = 'https://portico.example/mcp';

/** Claims, good or bad; those that are `undefined` are left out. */
export type TestClaims = Record<string, unknown>;

export interface Signer {
  readonly key: CryptoKey;
  readonly kid: string | undefined;
  readonly alg: string;
  /** What a set of keys shows of it. */
  readonly jwk: JWK;
}

export async function createSigner(alg = 'ES256', kid: string | undefined = alg): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid !== undefined && { kid }) };
  return { key: privateKey, kid, alg, jwk };
}

/** A signed token; claims and header that are `undefined` are left out. */
export function sign(
  { key, alg, kid }: Pick<Signer, 'key' | 'alg' | 'kid'>,
  claims: TestClaims,
  header: Record<string, unknown> = {},
): Promise<string> {
  const all = { alg, kid, typ: 'at+jwt', ...header };
  return new SignJWT(defined(claims)).setProtectedHeader(defined(all) as JWTHeaderParameters).sign(key);
}

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

export type TestIssuer = Awaited<ReturnType<typeof startIssuer>>;

/** An issuer of tokens on loopback, in a few lines: one that a test can have answer anything. */
export async function startIssuer(first?: Signer) {
  const server: HttpUpstream = await startHttpUpstream((request, response) => {
    const { url } = server;
    if (request.url === '/jwks') return json({ keys: issuer.signers.map(({ jwk }) => jwk) })(request, response);
    if (request.url === '/.well-known/oauth-authorization-server') {
      return json({ issuer: url, jwks_uri: `${url}/jwks` })(request, response);
    }
    json({}, 404)(request, response);
  });
  const issuer = Object.assign(server, {
    /** As tokens name it. */
    issuer: server.url,
    /** The signers whose keys it shows. */
    signers: [first ?? (await createSigner())],
    /** A token of its first signer, valid for ten minutes unless `claims` override that. */
    token(claims: TestClaims = {}, header: Record<string, unknown> = {}): Promise<string> {
      const [signer] = issuer.signers;
      if (signer === undefined) throw new Error('the issuer has no key');
      return sign(signer, { ...claimsOf(server.url), ...claims }, header);
    },
  });
  return issuer;
}

export function claimsOf(issuer: string): TestClaims {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: AUDIENCE, sub: 'alice', iat: now, exp: now + 600 };
}
