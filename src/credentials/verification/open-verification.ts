import type { Events } from '../../observability/events.ts';
import type { Verify } from '../authenticate.ts';
import { createBoundedFetch } from '../bounded-fetch.ts';
import { createIssuer } from './issuer.ts';
import { createKeySet } from './key-set.ts';
import { createVerifySigned, type SignedTokenOptions } from './signed-token.ts';
import { createJudge, type JudgeOptions } from './verdict.ts';
import { type Look, type VerdictsOptions, withVerdicts } from './verdicts.ts';

/** What settings say of verification. */
export interface VerificationSettings
  extends Omit<SignedTokenOptions, 'keys' | 'now'>,
    Omit<JudgeOptions, 'scopes' | 'keyOf'>,
    Omit<VerdictsOptions, 'events' | 'now' | 'clock'> {
  readonly keys: {
    readonly url?: string | undefined;
    readonly refreshMs: number;
    readonly cooldownMs: number;
    readonly maxBytes: number;
    readonly maxKeys: number;
  };
  readonly timeoutMs: number;
}

/** By what callers are verified. */
export interface VerifiedBy {
  readonly settings: VerificationSettings;
  /** Scopes that resources need. */
  readonly scopes: readonly string[];
}

export interface VerificationOptions extends Pick<JudgeOptions, 'keyOf'> {
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Whoever verifies the tokens of callers. */
export interface Verification {
  readonly by: VerifiedBy;
  readonly verify: Verify;
  close(): Promise<void>;
}

/** Asks nobody yet: an issuer that is down keeps nothing from starting. */
export function openVerification(by: VerifiedBy, { keyOf, events, now }: VerificationOptions): Verification {
  const { settings, scopes } = by;
  const { timeoutMs } = settings;
  const clock = () => performance.now();
  const { fetch, close } = createBoundedFetch({ maxBytes: settings.keys.maxBytes, timeoutMs });
  const issuer = createIssuer({ issuer: settings.issuer, fetch, timeoutMs });
  const keys = createKeySet({ ...settings.keys, issuer, events, now: clock });
  const verifySigned = createVerifySigned({ ...settings, keys, now });
  const judge = createJudge({ ...settings, scopes, keyOf });
  const signature: Look = {
    by: 'signature',
    judge: async (credential, key) => judge(await verifySigned(credential.reveal()), key),
  };
  return { by, verify: withVerdicts(() => signature, { ...settings, events, now, clock }), close };
}
