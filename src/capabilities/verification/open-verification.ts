import { randomUUID } from 'node:crypto';
import type { Verify } from '../../core/credentials/authenticate.ts';
import { type BoundedFetch, createBoundedFetch } from '../../core/credentials/bounded-fetch.ts';
import type { ClientAuthorization, ClientSettings } from '../../core/credentials/client-secret.ts';
import { Credential } from '../../core/kernel/caller.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Send } from '../token-exchange/authorization-server.ts';
import { createIntrospect } from './introspection.ts';
import { createIssuer } from './issuer.ts';
import { jose } from './jose.ts';
import { createKeySet } from './key-set.ts';
import type { Claims } from './outcome.ts';
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
  readonly introspection?: (ClientSettings & { readonly url?: string | undefined }) | undefined;
}

/** By what callers are verified. */
export interface VerifiedBy {
  readonly settings: VerificationSettings;
  /** Scopes that resources need. */
  readonly scopes: readonly string[];
}

export interface VerificationOptions extends Pick<JudgeOptions, 'keyOf'> {
  /** Portico's own at the issuer, where tokens are introspected. */
  readonly authorization?: ClientAuthorization | undefined;
  /**
   * Opens what asks the issuer about tokens, through layers that spare it while it fails. It may take so long each time, so much
   * of a response is read, and so many wait at most.
   */
  readonly openServer: (own: { readonly timeoutMs: number; readonly maxBytes: number; readonly maxQueue: number }) => {
    readonly send: Send;
    close(): Promise<void>;
  };
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
export function openVerification(by: VerifiedBy, options: VerificationOptions): Verification {
  const { settings, scopes } = by;
  const { timeoutMs, introspection, maxVerifying } = settings;
  const { keyOf, authorization, events, now } = options;
  const { maxBytes } = settings.keys;
  const clock = () => performance.now();
  const forKeys = createBoundedFetch({ maxBytes, timeoutMs });
  const keys = createKeySet({
    ...settings.keys,
    issuer: createIssuer({ issuer: settings.issuer, fetch: forKeys.fetch, timeoutMs }),
    // The others are for tokens whose key is known, whatever keys are made up while the issuer is slow.
    maxWaiting: Math.ceil(maxVerifying / 2),
    events,
    now: clock,
  });
  const judge = createJudge({ ...settings, scopes, keyOf });
  const lookBy = (by: Look['by'], claimsOf: (token: string) => Promise<Claims>): Look => ({
    by,
    judge: async (credential, key) => judge(await claimsOf(credential.reveal()), key),
  });

  const signature = lookBy('signature', createVerifySigned({ ...settings, keys, now }));
  // Over connections of its own: however slow it is, the keys can be had.
  const server = introspection && authorization && options.openServer({ timeoutMs, maxBytes, maxQueue: maxVerifying });
  const asked =
    introspection && authorization && server
      ? createIntrospect({
          ...settings,
          ...introspection,
          name: settings.issuer,
          issuer: createIssuer({ issuer: settings.issuer, fetch: fetchBy(server.send), timeoutMs }),
          authorization,
          now,
        })
      : undefined;
  const opaque = asked && lookBy('introspection', asked);
  const lookFor = (credential: Credential) =>
    opaque === undefined || isSigned(credential.reveal()) ? signature : opaque;
  return {
    by,
    verify: withVerdicts(lookFor, { ...settings, events, now, clock }),
    async close() {
      await Promise.all([forKeys.close(), server?.close()]);
    },
  };
}

/** Asks in nobody's name: what is found out about a token is for all who bring it. */
function fetchBy(send: Send): BoundedFetch['fetch'] {
  return (url, { headers = {}, body, signal } = {}) => {
    const caller = { credential: new Credential(''), key: '', partition: '', requestId: randomUUID() };
    const request = {
      url: new URL(url),
      headers: Object.fromEntries(new Headers(headers)),
      body: body === undefined ? undefined : String(body),
      caller,
    };
    return send(request, signal ?? new AbortController().signal);
  };
}

/** Whether a token is a JWT by its form: three parts, of which the first names an algorithm. */
function isSigned(token: string): boolean {
  if (token.split('.', 4).length !== 3) return false;
  try {
    return jose().decodeProtectedHeader(token).alg !== undefined;
  } catch {
    return false;
  }
}
