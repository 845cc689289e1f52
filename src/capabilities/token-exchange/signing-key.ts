import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { CryptoKey } from 'openid-client';
import {
  openFiles,
  type Unusable,
  type WatchedFiles,
  type WatchOptions,
} from '../../core/credentials/files/watched-files.ts';

export interface SigningKeySettings {
  /** PEM of the private key. */
  readonly keyFile: string;
  /** Id of the key, for a server with several. */
  readonly keyId?: string | undefined;
  /** What an RSA key signs with; any other has one way only. */
}

export interface SigningKey {
  /** Cannot be taken out of this process again. */
  readonly key: CryptoKey;
}

const MAX_BYTES = 16_384;
const MIN_RSA_BITS = 2048;
const MIN_RSA_EXPONENT = 65_537n;
const UNFIT = 'is no RSA key of 2048 bits or more with an exponent of 65537 or more, nor one on P-256, P-384 or P-521';

/** As Node and Web Crypto call them. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

/** Opens the file of a private key, reloaded when it changes; reports why it cannot sign. */
export function openSigningKey(
  { keyFile }: SigningKeySettings,
  options: WatchOptions,
): WatchedFiles<SigningKey> | Unusable {
  const made = new WeakMap<SigningKey, KeyObject>();
  return openFiles({
    ...options,
    paths: { keyFile },
    maxBytes: MAX_BYTES,
    make({ keyFile: pem = Buffer.alloc(0) }) {
      const key = privateKeyIn(pem);
      if ('issue' in key) return key;
      const algorithm = algorithmOf(key);
      if (algorithm === undefined) return unfit(UNFIT);
      const signing = { key: key.toCryptoKey(algorithm, false, ['sign']) };
      made.set(signing, key);
      return signing;
    },
    isSame(one, other) {
      const key = made.get(other);
      return key !== undefined && made.get(one)?.equals(key) === true;
    },
  });
}

function privateKeyIn(pem: Buffer): KeyObject | Unusable {
  try {
    return createPrivateKey(pem);
  } catch {
    const isEncrypted = pem.includes('ENCRYPTED');
    return unfit(
      isEncrypted ? 'is encrypted: Portico takes a key without a passphrase' : 'holds no private key in PEM',
    );
  }
}

function algorithmOf(key: KeyObject) {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  const isStrong = modulusLength >= MIN_RSA_BITS && publicExponent >= MIN_RSA_EXPONENT;
  if (key.asymmetricKeyType === 'rsa' && isStrong) {
    return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  }
  const curve = key.asymmetricKeyType === 'ec' ? CURVES[namedCurve] : undefined;
  return curve === undefined ? undefined : { name: 'ECDSA', namedCurve: curve };
}

function unfit(issue: string): Unusable {
  return { issue, key: 'keyFile' };
}
