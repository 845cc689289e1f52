import { hash, randomBytes } from 'node:crypto';
import { type Caller, Credential, type Verified } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import { flawOf, TOKEN } from '../kernel/header-value.ts';
import type { Span } from '../kernel/span.ts';

/** What is known of a caller by its credential alone. */
export type Identity = Pick<Caller, 'credential' | 'key' | 'partition' | 'expiresAt' | 'verified' | 'others'>;

/**
 * Verifies the token of the caller with this key, at once where it was verified a moment ago. Throws, or rejects with,
 * `credential_rejected`, and another error where it cannot decide: fails closed, and does not read like a bad token.
 */
export type Verify = (credential: Credential, key: string, span?: Span) => Verdict | Promise<Verdict>;

/** What verification adds to what is known of a caller. */
export interface Verdict extends Pick<Caller, 'partition'> {
  readonly expiresAt: number;
  readonly verified: Verified;
}

export interface AuthenticateOptions {
  /** @default nobody verifies: any token is taken */
  readonly verify?: Verify | undefined;
  /** @default a random key of its own */
  readonly keyOf?: KeyOf;
}

/** Keyed hash of a text, base64url. */
export type KeyOf = (text: string) => string;

/**
 * Finds out who brought these values of `Authorization`, one for each field line. It takes all of them: Node keeps the first and drops the
 * others, so that a proxy in front may have judged a different one.
 *
 * Rejects with `credential_missing` where there is none, `credential_malformed` where it is no bearer token, and
 * `invalid_request` where there are several; and as {@link Verify} does, where somebody verifies. Below `span` stands how long
 * that took.
 */
export type Authenticate = (
  authorization: readonly Credential[],
  span?: Span,
  beforeVerify?: BeforeVerify,
) => Promise<Identity>;

/** Called with the caller's key before its token is verified. Where it rejects, the token is not verified. */
export type BeforeVerify = (key: string) => Promise<void> | void;

/** `"Bearer" 1*SP` and the token (RFC 6750, section 2.1); the scheme's case does not matter (RFC 9110, section 11.1). */
const BEARER = /^bearer(?: +|$)/i;

/** Longest claims that are read, in base64url. */
const MAX_CLAIMS = 16_384;

/**
 * The one function that builds keys of what callers bring: SHA-256 over a secret and the token, base64url. By default that is a
 * random one that lives as long as the process, so that a key from a log can be neither looked up nor matched with another
 * process's. It need not be an HMAC, which takes three times as long: a key proves nothing, and what could be appended to a
 * hash is no token.
 */
export function createKeyOf(secret: Buffer = randomBytes(32)): KeyOf {
  const prefix = secret.toString('base64url');
  return (text) => hash('sha256', prefix + text, 'base64url');
}

export function createAuthenticate({ verify, keyOf = createKeyOf() }: AuthenticateOptions = {}): Authenticate {
  return async (authorization, span, beforeVerify) => {
    const token = readBearer(authorization);
    const credential = new Credential(token);
    const key = keyOf(token);
    await beforeVerify?.(key);
    if (verify === undefined) return { credential, key, partition: key, expiresAt: expiryOf(token) };
    const { partition, expiresAt, verified } = await verify(credential, key, span);
    return { credential, key, partition, expiresAt, verified };
  };
}

function readBearer(authorization: readonly Credential[]): string {
  const [value, ...others] = authorization;
  if (value === undefined) throw new GatewayError('credential_missing');
  if (others.length > 0) {
    throw new GatewayError('invalid_request', { detail: 'The request has more than one Authorization header.' });
  }
  const text = value.reveal();
  const scheme = BEARER.exec(text)?.[0];
  if (scheme === undefined) throw malformed('The Authorization header must begin with Bearer and a space.');
  const token = text.slice(scheme.length);
  if (!TOKEN.test(token))
    throw malformed(`The token behind Bearer must be visible ASCII characters: ${flawOf(token)}.`);
  return token;
}

function malformed(detail: string): GatewayError {
  return new GatewayError('credential_malformed', { detail });
}

/**
 * When a token ends by its own account, in milliseconds since the epoch: the `exp` of a JWT (RFC 7519, section 4.1.4),
 * not verified. `undefined` for what is no JWT or names no time. Claims too long to be read have ended: nothing is
 * known of them, and this may only shorten.
 */
export function expiryOf(token: string): number | undefined {
  const begin = token.indexOf('.') + 1;
  const end = token.indexOf('.', begin);
  // Header, claims and signature, and no part more (RFC 7515, section 3.1).
  if (begin === 0 || end === -1 || token.includes('.', end + 1)) return undefined;
  if (end - begin > MAX_CLAIMS) return 0;
  try {
    // Every character that JSON gives a meaning to is ASCII, and what is read is a number.
    const claims: unknown = JSON.parse(Buffer.from(token.slice(begin, end), 'base64url').toString('latin1'));
    const exp: unknown = (claims as { exp?: unknown } | null)?.exp;
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
