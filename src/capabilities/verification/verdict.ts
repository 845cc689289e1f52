import type { KeyOf, Verdict } from '../../core/credentials/authenticate.ts';
import { type Claims, rejected } from './outcome.ts';

export interface JudgeOptions {
  readonly issuer: string;
  readonly leewayMs: number;
  readonly scopeClaims: readonly string[];
  readonly impliedScopes: Readonly<Record<string, readonly string[]>>;
  /** Scopes that resources need: no others are looked for. */
  readonly scopes: readonly string[];
  /** Claim whose callers share snapshots; `undefined`: nobody does. */
  readonly partitionClaim?: string | undefined;
  readonly keyOf: KeyOf;
}

/** Longest subject (a SPIFFE ID; OpenID Connect has 255). */
const MAX_SUBJECT_LENGTH = 2048;

/** Makes the verdict on the token of a caller with this key out of claims that are true. Throws `credential_rejected`. */
export type Judge = (claims: Claims, key: string) => Verdict;

export function createJudge(options: JudgeOptions): Judge {
  const { issuer, leewayMs, scopeClaims, impliedScopes, scopes, partitionClaim, keyOf } = options;
  /** By scope that is needed: the scopes any of which grants it. */
  const granting = scopes.map((scope) => [scope, impliers(scope, impliedScopes)] as const);

  function grantedBy(claims: Claims): ReadonlySet<string> {
    const named = new Set(scopeClaims.flatMap((claim) => scopesIn(claims[claim])));
    return new Set(granting.flatMap(([scope, by]) => (by.some((one) => named.has(one)) ? [scope] : [])));
  }

  function subjectOf({ sub }: Claims): string | undefined {
    if (sub === undefined || sub === '') return undefined;
    if (typeof sub !== 'string' || sub.length > MAX_SUBJECT_LENGTH) throw rejected('its sub is malformed');
    return sub;
  }

  /** No token holds a space, so that no such key is ever that of a credential. */
  const keyFor = (claim: string, value: string) => keyOf(`claim ${JSON.stringify([issuer, claim, value])}`);

  function partitionOf(claims: Claims): string | undefined {
    if (partitionClaim === undefined) return undefined;
    const shared = claims[partitionClaim];
    return typeof shared === 'string' && shared !== '' ? keyFor(`partition ${partitionClaim}`, shared) : undefined;
  }

  return (claims, key) => {
    // RFC 7800, section 3.1: whoever presents it must prove that the key is theirs, and nothing here asks for that.
    if (claims['cnf'] !== undefined) throw rejected('it is bound to a key, of which there is no proof here');
    const subject = subjectOf(claims);
    return {
      partition: partitionOf(claims) ?? key,
      expiresAt: claims.exp === undefined ? Number.POSITIVE_INFINITY : claims.exp * 1000 + leewayMs,
      verified: Object.freeze({
        subject,
        subjectKey: subject === undefined ? undefined : keyFor('sub', subject),
        scopes: grantedBy(claims),
      }),
    };
  };
}

/** A scope, and all that imply it, by however many steps. */
function impliers(scope: string, implied: Readonly<Record<string, readonly string[]>>): readonly string[] {
  const found = new Set([scope]);
  for (const one of found) {
    for (const [other, implies] of Object.entries(implied)) if (implies.includes(one)) found.add(other);
  }
  return [...found];
}

function scopesIn(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((one) => typeof one === 'string') : [];
}
