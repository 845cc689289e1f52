import type { Verdict, Verify } from '../../core/credentials/authenticate.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createSizedLru } from '../../core/kernel/tables/sized-lru.ts';
import { rejected, tooMany } from './outcome.ts';

export interface VerdictsOptions {
  /** How long a token that was verified is taken without another look; its end at most. 0: not at all. */
  readonly rememberMs: number;
  /** How long one that was rejected is so without another look. 0: not at all. */
  readonly rememberRejectedMs: number;
  /** Tokens that are remembered at once, of either kind: the one that was used longest ago makes room. */
  readonly maxRemembered: number;
  /** Tokens that are looked at at once, in each of the ways to do it. */
  readonly maxVerifying: number;
  readonly events: Events;
  /** Milliseconds since the epoch, by which tokens end. */
  readonly now: () => number;
  /** A clock in milliseconds that never goes back, by which they are forgotten. */
  readonly clock: () => number;
}

/** A way to find out about a token. Rejects with `credential_rejected`, or where it cannot decide, with another error. */
export interface Look {
  readonly by: 'signature' | 'introspection';
  judge(credential: Credential, key: string): Promise<Verdict>;
}

/** What is remembered of a token. */
interface Kept<T> {
  readonly what: T;
  /** By the clock that never goes back. */
  readonly until: number;
}

/**
 * Remembers verdicts by the keys of callers, so that a token is looked at seldom, and by one look for all who bring it at
 * once. The rejected have a table of their own: no flood of them has a good one forgotten. So have each way's looks: tokens
 * that the issuer is asked about, who may be slow, keep none from being verified by its signature.
 */
export function withVerdicts(lookFor: (credential: Credential) => Look, options: VerdictsOptions): Verify {
  const { rememberMs, rememberRejectedMs, maxRemembered, maxVerifying, events, now, clock } = options;
  const table = { maxSize: maxRemembered, sizeOf: () => 1 };
  const accepted = createSizedLru<string, Kept<Verdict>>(table);
  const refused = createSizedLru<string, Kept<{ readonly why: string }>>(table);
  const looks = new Map<string, Promise<Verdict>>();
  const running = { signature: 0, introspection: 0 };

  async function look({ by, judge }: Look, credential: Credential, key: string): Promise<Verdict> {
    const begun = clock();
    running[by] += 1;
    try {
      const verdict = await judge(credential, key);
      if (rememberMs > 0) accepted.set(key, { what: verdict, until: begun + rememberMs });
      events.credentialJudged?.({ verdict: 'accepted', by, ms: clock() - begun });
      return verdict;
    } catch (error) {
      const { code, reason = 'a bug' } = error instanceof GatewayError ? error : new GatewayError('internal');
      const isRejected = code === 'credential_rejected';
      if (isRejected && rememberRejectedMs > 0) {
        refused.set(key, { what: { why: reason }, until: clock() + rememberRejectedMs });
      }
      events.credentialJudged?.({ verdict: isRejected ? 'rejected' : 'undecided', by, ms: clock() - begun, reason });
      throw error;
    } finally {
      running[by] -= 1;
      looks.delete(key);
    }
  }

  function begin(credential: Credential, key: string): Promise<Verdict> {
    const way = lookFor(credential);
    if (running[way.by] >= maxVerifying) throw tooMany();
    const begun = look(way, credential, key);
    looks.set(key, begun);
    return begun;
  }

  return (credential, key) => {
    const known = accepted.get(key);
    if (known !== undefined && clock() < known.until && now() < known.what.expiresAt) return known.what;
    const bad = refused.get(key);
    if (bad !== undefined && clock() < bad.until) throw rejected(bad.what.why);
    return looks.get(key) ?? begin(credential, key);
  };
}
