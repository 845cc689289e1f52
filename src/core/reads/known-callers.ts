import type { Config } from '../config/schema/settings.ts';
import type { KeyOf } from '../credentials/authenticate.ts';
import { asKnownBy, refusalOf } from '../credentials/other-credential.ts';
import type { Read } from './snapshots/load.ts';

export interface KnownCallerOptions {
  readonly config: Pick<Config, 'upstreams' | 'verification'>;
  /** Name of the upstream that is read from. */
  readonly upstream: string;
  readonly keyOf: KeyOf;
}

/**
 * Reads as the caller whom an upstream knows: by the credential that it brings for that upstream alone; or, where callers
 * are verified and the upstream is given nothing of theirs to judge, as one of all of them, who share what is held.
 */
export function withKnownCaller(read: Read, { config, upstream, keyOf }: KnownCallerOptions): Read {
  const credential = config.upstreams[upstream]?.credential;
  if (credential?.kind === 'header' && credential.from !== undefined) {
    const other = { from: credential.from, upstream, keyOf };
    return (caller, options) => {
      const load = read(asKnownBy(caller, other), options);
      if (!(load instanceof Promise)) return load;
      return load.catch((error) => {
        throw refusalOf(error, other);
      });
    };
  }
  const isOurs = credential?.kind === 'service' || credential?.kind === 'none';
  if (!isOurs || config.verification === undefined) return read;
  // No token holds a space, so that no such key is ever that of one.
  const partition = keyOf(`everybody at ${upstream}`);
  return (caller, options) => read({ ...caller, partition }, options);
}

/** Names of the headers beside `Authorization` in which callers bring credentials for these upstreams. */
export function otherCredentialsIn({ upstreams }: Pick<Config, 'upstreams'>, names: readonly string[]): string[] {
  const found = names.flatMap((name) => {
    const credential = upstreams[name]?.credential;
    return credential?.kind === 'header' ? (credential.from ?? []) : [];
  });
  return [...new Set(found)];
}
