import type { Caller, Credential } from '../kernel/caller.ts';
import { type CredentialForm, filledForm } from '../kernel/credential-kinds.ts';
import { withDeadline } from '../kernel/deadline.ts';
import type { ErrorCode } from '../kernel/error-table.ts';
import { GatewayError, type GatewayErrorFacts } from '../kernel/errors.ts';
import { createSizedLru } from '../kernel/lru.ts';
import { createSingleFlight } from '../kernel/single-flight.ts';
import type { Authorization } from './authorize.ts';

export interface ObtainedToken {
  readonly credential: Credential;
  /** Its end in milliseconds since the epoch; `undefined` if unknown. */
  readonly expiresAt: number | undefined;
}

interface ObtainedTokensOptions {
  readonly upstream: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether each caller has a token of its own, or all share the deployment's. */
  readonly perCaller: boolean;
  readonly form: CredentialForm;
  readonly timeoutMs: number;
  readonly maxAgeMs: number;
  readonly maxKeptBytes: number;
  /** Rejects with a {@link GatewayError}. */
  readonly obtain: (caller: Caller, signal: AbortSignal) => Promise<ObtainedToken>;
  /** Where tokens come from, in the log. */
  readonly source: string;
  readonly close: () => Promise<void>;
}

/** Charge for key, objects and the table, per token; above the actual size. */
const ENTRY_BYTES = 512;
/** Time before its end from which a token is not used. */
const MARGIN_MS = 30_000;
/** Use of a token without a known end. */
const UNKNOWN_MS = 60_000;
/** Time between attempts with a refused secret, because platforms lock accounts. */
const REFUSED_MS = 30_000;
/** Age until which a shared token is not replaced after a 401: a newer one would not be accepted either. */
const NEW_MS = 5000;

interface Given {
  readonly credential: Credential;
  readonly wasKept: boolean;
  readonly obtainedAt: number;
}

/** Returns an error of the server that issues tokens for a platform, which itself was not called. */
export function obtainError(code: ErrorCode, reason: string, facts: GatewayErrorFacts = {}): GatewayError {
  return new GatewayError(code, { detail: NO_TOKEN, ...facts, reason, dependencyFailed: true });
}

const NO_TOKEN =
  'Portico obtained no token for this platform. The operator of Portico finds the reason in the log, by the requestId.';

function sourceError(cause: GatewayError, source: string): GatewayError {
  const { code, reason, retryAfterSeconds, countsForBreaker } = cause;
  const rest = { countsForBreaker, cause, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return obtainError(code, `${source}: ${reason}`, rest);
}

/**
 * Authorizes with tokens that another server issues. A token is obtained by one request at a time for each caller, or for all
 * callers together, kept until shortly before its end, and replaced once after a 401.
 */
export function createObtainedTokens(options: ObtainedTokensOptions): Authorization {
  const { upstream, now, perCaller, form, timeoutMs, maxAgeMs, maxKeptBytes, obtain, source, close } = options;
  const sizeOf = ({ credential }: Given) => ENTRY_BYTES + credential.reveal().length;
  const tokens = createSizedLru<string, Given>({ maxSize: maxKeptBytes, sizeOf, now });
  const flights = createSingleFlight<Given>();
  const givenBy = new WeakMap<object, Given>();
  let refusal: { readonly error: GatewayError; readonly until: number } | undefined;

  const keyOf = ({ credentialKey }: Caller) => (perCaller ? credentialKey : '');

  async function request(caller: Caller, signal: AbortSignal): Promise<Given> {
    try {
      const { credential, expiresAt = now() + UNKNOWN_MS + MARGIN_MS } = await withDeadline(
        timeoutMs,
        signal,
        (ended) => obtain(caller, ended),
      );
      const obtainedAt = now();
      const ends = [
        expiresAt - MARGIN_MS,
        obtainedAt + maxAgeMs,
        (perCaller && caller.expiresAt) || Number.POSITIVE_INFINITY,
      ];
      tokens.set(keyOf(caller), { credential, wasKept: true, obtainedAt }, Math.min(...ends) - obtainedAt);
      return { credential, wasKept: false, obtainedAt };
    } catch (error) {
      if (signal.aborted || !(error instanceof GatewayError)) throw error;
      const failure = (error.dependencyFailed ? error : sourceError(error, source)).from(upstream);
      const isRefused = !perCaller && failure.code === 'upstream_credential_rejected';
      if (isRefused) refusal = { error: failure, until: now() + REFUSED_MS };
      throw failure;
    }
  }

  function give(given: Given): Readonly<Record<string, string>> {
    const headers = { [form.header]: filledForm(form, given.credential.reveal()) };
    givenBy.set(headers, given);
    return headers;
  }

  return {
    async authorize(caller, signal) {
      const key = keyOf(caller);
      const kept = tokens.get(key);
      if (kept !== undefined) return give(kept);
      if (refusal !== undefined && now() < refusal.until) throw refusal.error;
      return give(await flights.join(key, signal, (shared) => request(caller, shared)));
    },
    refused(caller, headers) {
      const given = givenBy.get(headers);
      if (given === undefined || (!perCaller && now() - given.obtainedAt < NEW_MS)) return false;
      const key = keyOf(caller);
      if (tokens.get(key)?.credential === given.credential) tokens.delete(key);
      // A kept token may have been revoked; a second new one would not be better.
      return given.wasKept;
    },
    close,
  };
}
