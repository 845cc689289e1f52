import type { Verify } from '../../core/credentials/authenticate.ts';
import type { Send } from '../../core/credentials/authorize.ts';
import type { ClientAuthorization, ClientSettings } from '../../core/credentials/client-secret.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createIntrospect } from './introspection.ts';
import { createIssuer } from './issuer.ts';
import { jose } from './jose.ts';
import { createKeySet } from './key-set.ts';
import type { Claims } from './outcome.ts';
import { createVerifySigned, type SignedTokenOptions } from './signed-token.ts';
import { createJudge, type JudgeOptions } from './verdict.ts';
import { type VerdictsOptions, type VerificationMethod, withVerdicts } from './verdicts.ts';

/** Settings of verification. */
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
  readonly introspection?: (ClientSettings & { readonly url?: string | undefined }) | undefined;
}

/** Inputs of verification. */
export interface VerifiedBy {
  readonly settings: VerificationSettings;
  /** Scopes required by resources. */
  readonly scopes: readonly string[];
}

export interface VerificationOptions extends Pick<JudgeOptions, 'keyOf'> {
  /** Portico's credential at the issuer, for introspection. */
  readonly authorization?: ClientAuthorization | undefined;
  /** Opens connections to the issuer with a maximum reply size and a bounded queue, behind a breaker. */
  readonly openServer: (own: {
    readonly name: 'keys' | 'introspection';
    readonly timeoutMs: number;
    readonly maxBytes: number;
    readonly maxQueue: number;
  }) => { readonly send: Send; close(): Promise<void> };
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Verifies callers' tokens. */
export interface Verification {
  readonly verify: Verify;
  close(): Promise<void>;
}

/** There is one at a time. */
const MAX_KEY_REQUESTS = 4;

/** Sends no request yet, so that startup does not depend on the issuer. */
export function openVerification(by: VerifiedBy, options: VerificationOptions): Verification {
  const { settings, scopes } = by;
  const { timeoutMs, introspection, maxVerifying } = settings;
  const { keyOf, authorization, events, now } = options;
  const { maxBytes } = settings.keys;
  const clock = () => performance.now();
  const open = (name: 'keys' | 'introspection', maxQueue: number) => {
    const { send, close } = options.openServer({ name, timeoutMs, maxBytes, maxQueue });
    return { ...createIssuer({ issuer: settings.issuer, send, timeoutMs }), close };
  };
  const forKeys = open('keys', MAX_KEY_REQUESTS);
  const keys = createKeySet({
    ...settings.keys,
    issuer: forKeys,
    // The other half is for tokens with known keys, however slow the issuer is.
    maxWaiting: Math.ceil(maxVerifying / 2),
    events,
    now: clock,
  });
  const judge = createJudge({ ...settings, scopes, keyOf });
  const methodOf = (
    by: VerificationMethod['by'],
    claimsOf: (token: string) => Promise<Claims>,
  ): VerificationMethod => ({
    by,
    judge: async (credential, key) => judge(await claimsOf(credential.reveal()), key),
  });

  const signature = methodOf('signature', createVerifySigned({ ...settings, keys, now }));
  // Over separate connections, so that slow introspection does not delay keys.
  const forOpaque = introspection && authorization && open('introspection', maxVerifying);
  const opaque =
    forOpaque &&
    methodOf(
      'introspection',
      createIntrospect({ ...settings, ...introspection, name: settings.issuer, issuer: forOpaque, authorization, now }),
    );
  const methodFor = (credential: Credential) =>
    opaque === undefined || isSigned(credential.reveal()) ? signature : opaque;
  return {
    verify: withVerdicts(methodFor, { ...settings, events, now, clock }),
    async close() {
      await Promise.all([forKeys.close(), forOpaque?.close()]);
    },
  };
}

/** Returns whether a token has the form of a JWT: three parts, the first of which names an algorithm. */
function isSigned(token: string): boolean {
  if (token.split('.', 4).length !== 3) return false;
  try {
    return jose().decodeProtectedHeader(token).alg !== undefined;
  } catch {
    return false;
  }
}
