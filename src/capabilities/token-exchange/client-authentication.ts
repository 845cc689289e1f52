import type { KeyObject } from 'node:crypto';
import type { ClientAuth } from 'openid-client';
import type { Config } from '../../core/config/schema/settings.ts';
import { openSecret } from '../../core/credentials/files/secret-file.ts';
import { privateKeyIn } from '../../core/credentials/files/tls-files.ts';
import { openFiles, UnusableFile, type WatchOptions } from '../../core/credentials/files/watched-files.ts';

/** Settings of an upstream whose tokens are obtained by OAuth. */
export type GrantSettings = Extract<
  Config['upstreams'][string]['credential'],
  { kind: 'client-credentials' | 'exchange' }
>;

type ClientSettings = GrantSettings['client'];
type OfKind<Kind> = Extract<ClientSettings, { kind: Kind }>;
type SecretClient = OfKind<'client_secret_basic' | 'client_secret_post'>;

/** Returns it as currently in its files. Rejects with the signal's reason when it aborts. */
export type AuthenticateClient = (signal: AbortSignal) => Promise<ClientAuth>;

const MAX_KEY_BYTES = 16_384;
/** With a shorter key, openid-client would fail each exchange. */
const MIN_RSA_BITS = 2048;

/** As Node and Web Crypto call them. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

/** Reads its files. Throws `UnusableFile`. */
export function openClientAuthentication(settings: ClientSettings, options: WatchOptions): AuthenticateClient {
  switch (settings.kind) {
    case 'private_key_jwt':
      return byKey(settings, options);
    case 'tls_client_auth':
      return async () => (await import('openid-client')).TlsClientAuth();
    default:
      return bySecret(settings, options);
  }
}

function bySecret({ kind, ...secret }: SecretClient, options: WatchOptions): AuthenticateClient {
  const opened = openSecret(secret, options);
  return async (signal) => {
    const { ClientSecretBasic, ClientSecretPost } = await import('openid-client');
    const held = (await opened.current(signal)).reveal();
    return kind === 'client_secret_basic' ? ClientSecretBasic(held) : ClientSecretPost(held);
  };
}

function byKey({ keyFile, keyId: kid }: OfKind<'private_key_jwt'>, options: WatchOptions): AuthenticateClient {
  const opened = openFiles({
    ...options,
    paths: { keyFile },
    maxBytes: MAX_KEY_BYTES,
    make: ({ keyFile: pem = Buffer.alloc(0) }) => signingKeyIn(pem),
  });
  return async (signal) => {
    const { PrivateKeyJwt } = await import('openid-client');
    const held = await opened.current(signal);
    // It has an algorithm, or would not have been opened.
    const key = held.toCryptoKey(algorithmOf(held) ?? '', false, ['sign']);
    return PrivateKeyJwt(kid === undefined ? key : { key, kid });
  };
}

function signingKeyIn(pem: Buffer): KeyObject {
  const key = privateKeyIn(pem);
  if (algorithmOf(key) !== undefined) return key;
  throw new UnusableFile('keyFile', 'must be an RSA key of at least 2048 bits or a key on P-256, P-384 or P-521');
}

/** An RSA key signs with RS256; any other has one way only. */
function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS)
    return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const curve = asymmetricKeyType === 'ec' ? CURVES[namedCurve] : undefined;
  return curve === undefined ? undefined : { name: 'ECDSA', namedCurve: curve };
}
