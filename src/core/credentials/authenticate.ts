import { hash, randomBytes } from 'node:crypto';
import { type Caller, Credential, flawOf, TOKEN, type Verified } from '../kernel/caller.ts';
import { errorWithDetail, GatewayError } from '../kernel/errors.ts';

/** The facts about a caller that follow from its credential. */
export type Identity = Pick<
  Caller,
  'credential' | 'credentialKey' | 'cacheScope' | 'expiresAt' | 'verified' | 'headerCredentials' | 'forwarded'
>;

/** Verifies a token. Throws, or rejects with, `credential_rejected`, and another error if it cannot decide: it fails closed. */
export type Verify = (credential: Credential, key: string) => Verdict | Promise<Verdict>;

export interface Verdict extends Pick<Caller, 'cacheScope'> {
  readonly expiresAt: number;
  readonly verified: Verified;
}

interface AuthenticateOptions {
  /** @default verification is off: any token is accepted */
  readonly verify?: Verify | undefined;
  readonly keyOf?: KeyOf;
}

/** Keyed hash of a text, base64url. */
export type KeyOf = (text: string) => string;

/**
 * Identifies the caller by all its `Authorization` field lines. Rejects with `credential_missing`, `credential_malformed`,
 * `invalid_request` for several lines (a proxy in front may have judged another one), and as {@link Verify} does.
 */
export type Authenticate = (authorization: readonly Credential[], beforeVerify?: BeforeVerify) => Promise<Identity>;

/** Called with the caller's key before its token is verified. If it throws, the token is not verified. */
type BeforeVerify = (key: string) => void;

/** `"Bearer" 1*SP` and the token (RFC 6750, section 2.1); the scheme's case does not matter (RFC 9110, section 11.1). */
const BEARER = /^bearer(?: +|$)/i;

/** Longest claims that are read, in base64url. */
const MAX_CLAIMS = 16_384;

/**
 * Creates the function that builds all keys of credentials: SHA-256 over a secret and the token. With the random default, a key
 * from a log cannot be looked up. An HMAC would take three times as long and is not needed: a key proves nothing.
 */
export function createKeyOf(secret: Buffer = randomBytes(32)): KeyOf {
  const prefix = secret.toString('base64url');
  return (text) => hash('sha256', prefix + text, 'base64url');
}

export function createAuthenticate({ verify, keyOf = createKeyOf() }: AuthenticateOptions = {}): Authenticate {
  return async (authorization, beforeVerify) => {
    const token = readBearer(authorization);
    const credential = new Credential(token);
    const key = keyOf(token);
    beforeVerify?.(key);
    if (verify === undefined) return { credential, credentialKey: key, cacheScope: key, expiresAt: expiryOf(token) };
    const { cacheScope, expiresAt, verified } = await verify(credential, key);
    return { credential, credentialKey: key, cacheScope, expiresAt, verified };
  };
}

function readBearer(authorization: readonly Credential[]): string {
  const [value, ...others] = authorization;
  if (value === undefined) throw new GatewayError('credential_missing');
  if (others.length > 0) {
    throw errorWithDetail('invalid_request', 'The request has more than one Authorization header.');
  }
  const text = value.reveal();
  const scheme = BEARER.exec(text)?.[0];
  if (scheme === undefined) throw malformed('The Authorization header must begin with Bearer and a space.');
  const token = text.slice(scheme.length);
  const flaw = flawOf(token, TOKEN);
  if (flaw !== undefined) throw malformed(`The text after Bearer is not a token of visible ASCII characters: ${flaw}.`);
  return token;
}

function malformed(detail: string): GatewayError {
  return errorWithDetail('credential_malformed', detail);
}

/** Returns the unverified `exp` of a JWT (RFC 7519) in ms since the epoch: it only shortens lifetimes. */
export function expiryOf(token: string): number | undefined {
  const begin = token.indexOf('.') + 1;
  const end = token.indexOf('.', begin);
  // RFC 7515, section 3.1.
  if (begin === 0 || end === -1 || token.includes('.', end + 1)) return undefined;
  if (end - begin > MAX_CLAIMS) return 0;
  try {
    // Latin-1 is enough: JSON syntax is ASCII, and only a number is read.
    const claims: unknown = JSON.parse(Buffer.from(token.slice(begin, end), 'base64url').toString('latin1'));
    const exp: unknown = (claims as { exp?: unknown } | null)?.exp;
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
