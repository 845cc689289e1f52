import type { Verdict, Verify } from '../../core/credentials/authenticate.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createSizedLru } from '../../core/kernel/lru.ts';
import { rejected, type VerificationConfig } from './verification-errors.ts';

interface VerificationCacheOptions
  extends Pick<VerificationConfig, 'rememberMs' | 'rememberRejectedMs' | 'maxRemembered'> {
  readonly events: Events;
  readonly now: () => number;
  readonly clock: () => number;
}

/**
 * Remembers verdicts by callers' keys, and shares concurrent verifications of one token. Rejections have their own
 * table, so that many of them do not evict accepted tokens. `judge` rejects with `credential_rejected`, or with another error if
 * undecided.
 */
export function withVerificationCache(
  judge: (credential: Credential, key: string) => Promise<Verdict>,
  options: VerificationCacheOptions,
): Verify {
  const { rememberMs, rememberRejectedMs, maxRemembered, events, now, clock } = options;
  const table = { maxSize: maxRemembered, now: clock };
  const accepted = createSizedLru<string, Verdict>(table);
  const refused = createSizedLru<string, string>(table);
  const pending = new Map<string, Promise<Verdict>>();

  async function verifyOnce(credential: Credential, key: string): Promise<Verdict> {
    const startedAt = clock();
    try {
      const verdict = await judge(credential, key);
      accepted.set(key, verdict, startedAt + rememberMs - clock());
      events.credentialVerified?.({ verdict: 'accepted', ms: clock() - startedAt });
      return verdict;
    } catch (error) {
      const { code, reason } = error instanceof GatewayError ? error : new GatewayError('internal');
      const isRejected = code === 'credential_rejected';
      if (isRejected) refused.set(key, reason, rememberRejectedMs);
      events.credentialVerified?.({ verdict: isRejected ? 'rejected' : 'undecided', ms: clock() - startedAt, reason });
      throw error;
    } finally {
      pending.delete(key);
    }
  }

  return (credential, key) => {
    const known = accepted.get(key);
    if (known !== undefined && now() < known.expiresAt) return known;
    const reason = refused.get(key);
    if (reason !== undefined) throw rejected(reason);
    const verdict = pending.get(key) ?? verifyOnce(credential, key);
    pending.set(key, verdict);
    return verdict;
  };
}
