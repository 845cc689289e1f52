import { openSecret, type SecretSettings } from './files/secret-file.ts';
import type { Unusable, WatchOptions } from './files/watched-files.ts';

export interface ClientSettings extends SecretSettings {
  readonly clientId: string;
}

export type ClientAuthorization = (signal: AbortSignal) => Promise<string>;

/** Opens the secret (RFC 6749, section 2.3.1); returns the issue of a file that cannot be used. */
export function openClientSecret(
  { clientId, ...settings }: ClientSettings,
  options: WatchOptions,
): { readonly authorization: ClientAuthorization } | Unusable {
  const opened = openSecret(settings, options);
  if ('issue' in opened) return opened;
  return {
    async authorization(signal) {
      const secret = await opened.current(signal);
      const pair = [clientId, secret.reveal()].map(formEncoded).join(':');
      return `Basic ${Buffer.from(pair).toString('base64')}`;
    },
  };
}

/** `application/x-www-form-urlencoded`. */
function formEncoded(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice('_='.length);
}

/** Whether an issuer's endpoint may be sent secrets: by TLS (on any host: RFC 8414, section 2), or on the issuer's host. */
export function isTrustedEndpoint(endpoint: unknown, issuer: string): endpoint is string {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  const known = new URL(issuer);
  return protocol === 'https:' || (protocol === known.protocol && hostname === known.hostname);
}
