import type { Credential } from '../../core/kernel/caller.ts';
import { createSizedLru } from '../../core/kernel/tables/sized-lru.ts';

export interface ExchangedTokensOptions {
  /** All tokens that are kept, with what is kept about each; those that were used longest ago make room. */
  readonly maxKeptBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Tokens that were made for the platform, each for one credential. */
export interface ExchangedTokens {
  get(callerKey: string): Credential | undefined;
  /** `until`: in milliseconds since the epoch. */
  keep(callerKey: string, credential: Credential, until: number): void;
  /** Lets go of this very token. */
  drop(callerKey: string, credential: Credential): void;
}

interface Kept {
  readonly credential: Credential;
  readonly until: number;
}

/** Key, objects and the table itself, for one token: more than they take. */
const ENTRY_BYTES = 512;

export function createExchangedTokens({ maxKeptBytes, now }: ExchangedTokensOptions): ExchangedTokens {
  const kept = createSizedLru<string, Kept>({
    maxSize: maxKeptBytes,
    sizeOf: ({ credential }) => ENTRY_BYTES + credential.reveal().length,
  });
  return {
    get(callerKey) {
      const found = kept.get(callerKey);
      if (found === undefined) return undefined;
      if (now() < found.until) return found.credential;
      kept.delete(callerKey);
      return undefined;
    },
    keep(callerKey, credential, until) {
      if (now() < until) kept.set(callerKey, { credential, until });
    },
    drop(callerKey, credential) {
      if (kept.get(callerKey)?.credential === credential) kept.delete(callerKey);
    },
  };
}
