import type { KeyOf, Verdict } from '../../core/credentials/authenticate.ts';
import { type Claims, rejected, type VerificationConfig } from './verification-errors.ts';

interface ClaimsCheckOptions
  extends Pick<VerificationConfig, 'issuer' | 'leewayMs' | 'scopeClaims' | 'partitionClaim'> {
  /** Scopes required by resources; others are ignored. */
  readonly scopes: readonly string[];
  /** Claims that settings name. */
  readonly claimNames: readonly string[];
  readonly keyOf: KeyOf;
}

/** Returns what derives the verdict for a caller's key from verified claims. That throws `credential_rejected`. */
export function createClaimsCheck(options: ClaimsCheckOptions) {
  const { issuer, leewayMs, scopeClaims, scopes, claimNames, partitionClaim, keyOf } = options;
  function grantedBy(claims: Claims): ReadonlySet<string> {
    const named = new Set(scopeClaims.flatMap((claim) => scopesIn(claims[claim])));
    return new Set(scopes.filter((scope) => named.has(scope)));
  }

  function subjectOf({ sub }: Claims): string | undefined {
    if (sub === undefined || sub === '') return undefined;
    if (typeof sub !== 'string') throw rejected('its sub is malformed');
    return sub;
  }

  /** Tokens contain no spaces, so this is never a credential's key. */
  const keyFor = (claim: string, value: string) => keyOf(`claim ${JSON.stringify([issuer, claim, value])}`);

  function cacheScopeOf(claims: Claims): string | undefined {
    if (partitionClaim === undefined) return undefined;
    const shared = claims[partitionClaim];
    return typeof shared === 'string' && shared !== '' ? keyFor(`partition ${partitionClaim}`, shared) : undefined;
  }

  return (claims: Claims, key: string): Verdict => {
    // RFC 7800, section 3.1: the sender must prove possession of the key, which is not supported.
    if (claims['cnf'] !== undefined) throw rejected('it is bound to a key, of which there is no proof here');
    const subject = subjectOf(claims);
    return {
      cacheScope: cacheScopeOf(claims) ?? key,
      expiresAt: claims.exp === undefined ? Number.POSITIVE_INFINITY : claims.exp * 1000 + leewayMs,
      verified: Object.freeze({
        subject,
        subjectKey: subject === undefined ? undefined : keyFor('sub', subject),
        scopes: grantedBy(claims),
        claims: new Map(claimNames.flatMap((name) => textOf(claims[name]).map((text) => [name, text]))),
      }),
    };
  };
}

function textOf(claim: unknown): string[] {
  return ['boolean', 'number', 'string'].includes(typeof claim) ? [String(claim)] : [];
}

function scopesIn(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((one) => typeof one === 'string') : [];
}
