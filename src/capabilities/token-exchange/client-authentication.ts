import type { ClientAuth } from 'openid-client';
import { openSecretFile } from '../../core/credentials/files/secret-file.ts';
import type { Unusable, WatchOptions } from '../../core/credentials/files/watched-files.ts';
import { Credential } from '../../core/kernel/caller.ts';
import { openSigningKey, type SigningKeySettings } from './signing-key.ts';

/** Client authentication methods, by their OAuth names (RFC 8414, section 2). */
export type ClientSettings = SecretClient | KeyClient | CertificateClient;

interface SecretClient {
  readonly kind: 'client_secret_basic' | 'client_secret_post';
  readonly id: string;
  /** One of the two. */
  readonly secret?: string | undefined;
  readonly file?: string | undefined;
}

interface KeyClient extends SigningKeySettings {
  readonly kind: 'private_key_jwt';
  readonly id: string;
}

/** The certificate belongs to the connection. */
interface CertificateClient {
  readonly kind: 'tls_client_auth';
  readonly id: string;
}

export interface ClientAuthentication {
  /** Returns it as currently in its files. Rejects with the signal's reason when it aborts. */
  current(signal: AbortSignal): Promise<ClientAuth>;
}

/** Reads its files, and reports unusable ones. */
export function openClientAuthentication(
  settings: ClientSettings,
  options: WatchOptions,
): ClientAuthentication | Unusable {
  switch (settings.kind) {
    case 'private_key_jwt':
      return byKey(settings, options);
    case 'tls_client_auth':
      return { current: async () => (await import('openid-client')).TlsClientAuth() };
    default:
      return bySecret(settings, options);
  }
}

function bySecret({ kind, secret = '', file }: SecretClient, options: WatchOptions): ClientAuthentication | Unusable {
  const written = new Credential(secret);
  const opened = file === undefined ? { current: async () => written } : openSecretFile(file, options);
  if ('issue' in opened) return opened;
  return {
    async current(signal) {
      const { ClientSecretBasic, ClientSecretPost } = await import('openid-client');
      const held = (await opened.current(signal)).reveal();
      return kind === 'client_secret_basic' ? ClientSecretBasic(held) : ClientSecretPost(held);
    },
  };
}

function byKey(settings: KeyClient, options: WatchOptions): ClientAuthentication | Unusable {
  const opened = openSigningKey(settings, options);
  if ('issue' in opened) return opened;
  const { keyId: kid } = settings;
  return {
    async current(signal) {
      const { PrivateKeyJwt } = await import('openid-client');
      const { key } = await opened.current(signal);
      return PrivateKeyJwt(kid === undefined ? key : { key, kid });
    },
  };
}
