import { Credential } from '../kernel/caller.ts';
import { openSecretFile } from './files/secret-file.ts';
import type { Unusable, WatchOptions } from './files/watched-files.ts';

/** By what an authorization server knows Portico: one of `secret` and `file`. */
export interface ClientSettings {
  readonly clientId: string;
  readonly secret?: string | undefined;
  readonly file?: string | undefined;
}

/** The `Authorization` of Portico itself at an authorization server, as it stands now. */
export type ClientAuthorization = (signal: AbortSignal) => Promise<string>;

/** Reads the file of the secret, and says why where that gives none (RFC 6749, section 2.3.1). */
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

/** As a form has it (`application/x-www-form-urlencoded`), which the server undoes. */
function formEncoded(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice('_='.length);
}
