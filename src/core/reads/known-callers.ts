import type { Config } from '../config/schema/settings.ts';
import type { KeyOf } from '../credentials/authenticate.ts';
import { refusalOf, withOtherCredential } from '../credentials/other-credential.ts';
import type { Read } from './snapshots/load.ts';

export interface KnownCallerOptions {
  readonly config: Pick<Config, 'upstreams' | 'verification'>;
  /** Name of the upstream. */
  readonly upstream: string;
  readonly keyOf: KeyOf;
}

/**
 * Reads as the caller that the upstream sees: identified by another header's credential for that upstream, or, if
 * callers are verified and the upstream receives nothing from them, as one partition of all callers.
 */
export function withKnownCaller(read: Read, { config, upstream, keyOf }: KnownCallerOptions): Read {
  const credential = config.upstreams[upstream]?.credential;
  if (credential?.kind === 'header' && credential.from !== undefined) {
    const other = { from: credential.from, upstream, keyOf };
    return async (caller, options) => {
      try {
        return await read(withOtherCredential(caller, other), options);
      } catch (error) {
        throw refusalOf(error, other);
      }
    };
  }
  const isOurs = credential?.kind === 'service' || credential?.kind === 'none';
  if (!isOurs || config.verification === undefined) return read;
  // Tokens contain no spaces, so this is never a token's key.
  const partition = keyOf(`everybody at ${upstream}`);
  return (caller, options) => read({ ...caller, partition }, options);
}

/** Returns the headers beside `Authorization` in which callers send credentials for these upstreams. */
export function otherCredentialsIn({ upstreams }: Pick<Config, 'upstreams'>, names: readonly string[]): string[] {
  const found = names.flatMap((name) => {
    const credential = upstreams[name]?.credential;
    return credential?.kind === 'header' ? (credential.from ?? []) : [];
  });
  return [...new Set(found)];
}
