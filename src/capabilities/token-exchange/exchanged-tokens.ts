import type { Credential } from '../../core/kernel/caller.ts';
import { createSizedLru } from '../../core/kernel/tables/sized-lru.ts';

export interface ExchangedTokensOptions {
  /** Maximum size of all tokens with their entries; the least recently used are removed first. */
  readonly maxKeptBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Tokens issued for the platform, each for one credential. */
export interface ExchangedTokens {
  get(callerKey: string): Credential | undefined;
  /** `until`: in milliseconds since the epoch. */
  keep(callerKey: string, credential: Credential, until: number): void;
  /** Drops exactly this token. */
  drop(callerKey: string, credential: Credential): void;
}

interface Kept {
  readonly credential: Credential;
  readonly until: number;
}

/** Charge for key, objects and the table, per token; above the actual size. */
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
