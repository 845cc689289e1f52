import type { JWTVerifyOptions } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { KeySet } from './key-set.ts';
import { type Claims, jose, rejected, unavailable, type VerificationSettings } from './verification-errors.ts';

export interface SignedTokenOptions extends Pick<VerificationSettings, 'issuer' | 'type' | 'leewayMs'> {
  readonly audience: string | readonly string[];
  readonly keys: KeySet;
  readonly now: () => number;
}

/** Algorithms with which a verifier cannot sign (RFC 7518, section 3.1; RFC 8037; RFC 9864). */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Keys tried for a token without `kid`, which anyone can make up. OpenID Connect Core, 10.1 requires a `kid` among several. */
const MAX_TRIED = 4;

/** Verifies JWTs. Rejects with `credential_rejected`, or with `verifier_unavailable` if undecided. */
export function createVerifySigned(options: SignedTokenOptions): (token: string) => Promise<Claims> {
  const { decodeProtectedHeader, errors, jwtVerify } = jose();
  const { issuer, audience, type, leewayMs, keys, now } = options;
  const fixed: JWTVerifyOptions = {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms: ALGORITHMS,
    clockTolerance: leewayMs / 1000,
    requiredClaims: ['exp'],
    ...(type !== undefined && { typ: type }),
  };

  async function verify(token: string): Promise<Claims> {
    const checked = { ...fixed, currentDate: new Date(now()) };
    try {
      return (await jwtVerify(token, keys.find, checked)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // A token without `kid`, or with one that several keys share.
      let tried = 0;
      for await (const key of error) {
        tried += 1;
        if (tried > MAX_TRIED)
          throw rejected('it does not name the key that it is signed with, and its issuer has many');
        try {
          return (await jwtVerify(token, key, checked)).payload;
        } catch (failed) {
          if (!(failed instanceof errors.JWSSignatureVerificationFailed)) throw failed;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  /** jose requests the keys again for a `kid` that it does not know, not for a token that names none, or for an unusable key. */
  async function isWorthAnotherTry(error: unknown, token: string): Promise<boolean> {
    const isUnnamed = error instanceof errors.JWSSignatureVerificationFailed && !decodeProtectedHeader(token).kid;
    const isKeyUnusable = !(error instanceof errors.JOSEError || error instanceof GatewayError);
    return (isUnnamed || isKeyUnusable) && keys.renew();
  }

  return async (token) => {
    if (!token.split('.').every(isCanonical)) throw rejected(NO_JWT);
    try {
      return await verify(token).catch(async (error) => {
        if (await isWorthAnotherTry(error, token)) return verify(token);
        throw error;
      });
    } catch (error) {
      throw error instanceof GatewayError ? error : rejectionOf(error);
    }
  };
}

/** jose ignores unused bits of the last character (RFC 4648, 3.5): one token would have 16 spellings, each with its own limits. */
function isCanonical(segment: string): boolean {
  return Buffer.from(segment, 'base64url').toString('base64url') === segment;
}

const NO_JWT = 'it is no well-formed JWT';

const UNFIT: Readonly<Record<string, string>> = {
  aud: 'it is not for this server',
  iss: 'another issuer issued it',
  exp: 'it does not say when it ends',
  nbf: 'it is not good yet',
  typ: 'it is no access token',
};

function rejectionOf(error: unknown): GatewayError {
  const { errors } = jose();
  if (error instanceof errors.JWTExpired) return rejected('it has expired');
  if (error instanceof errors.JWTClaimValidationFailed)
    return rejected(UNFIT[error.claim] ?? 'its claims are malformed');
  if (error instanceof errors.JWKSNoMatchingKey) return rejected('no key of its issuer fits it');
  if (error instanceof errors.JWSSignatureVerificationFailed) return rejected('its signature is wrong');
  if (error instanceof errors.JOSEAlgNotAllowed) return rejected('it is signed with another algorithm than may be');
  if (error instanceof errors.JOSEError) return rejected(NO_JWT);
  // An unusable key: the caller cannot correct that.
  return unavailable('a key of the issuer is unusable', error);
}
