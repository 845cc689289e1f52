import { Credential } from '../kernel/caller.ts';
import { openSecretFile } from './files/secret-file.ts';
import type { Unusable, WatchOptions } from './files/watched-files.ts';

/** Portico's credential at an authorization server: one of `secret` and `file`. */
export interface ClientSettings {
  readonly clientId: string;
  readonly secret?: string | undefined;
  readonly file?: string | undefined;
}

/** Returns Portico's current `Authorization` at an authorization server. */
export type ClientAuthorization = (signal: AbortSignal) => Promise<string>;

/** Opens the secret (RFC 6749, section 2.3.1); returns the issue of a file that cannot be used. */
export function openClientSecret(
  { clientId, secret = '', file }: ClientSettings,
  options: WatchOptions,
): { readonly authorization: ClientAuthorization } | Unusable {
  const basic = (held: Credential) => {
    const pair = [clientId, held.reveal()].map(formEncoded).join(':');
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  };
  if (file === undefined) {
    const fixed = new Credential(secret);
    return { authorization: async () => basic(fixed) };
  }
  const opened = openSecretFile(file, options);
  if ('issue' in opened) return opened;
  return { authorization: async (signal) => basic(await opened.current(signal)) };
}

/** `application/x-www-form-urlencoded`. */
function formEncoded(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice('_='.length);
}
