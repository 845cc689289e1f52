import type { Credential } from '../kernel/caller.ts';

const SCHEME = /^bearer$/i;
const SYNTAX = /[.*+?^${}()|[\]\\/-]/g;

/** Whether `text` holds anything that stands in these `Authorization` values beside the scheme, valid or not. */
export function mentionsCredential(text: string, authorization: readonly Credential[]): boolean {
  return secretsIn(authorization.map(revealed)).some((secret) => text.includes(secret));
}

/** `text` with all that stands in these `Authorization` values beside the scheme replaced, plain or percent-encoded. */
export function redact(text: string, authorization: readonly string[]): string {
  const secrets = secretsIn(authorization);
  if (secrets.length === 0) return text;
  const alternatives = secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    // Longest first: of two that begin alike, the shorter one would leave the rest of the longer one behind.
    .sort((a, b) => b.length - a.length)
    .map((secret) => secret.replace(SYNTAX, '\\$&'));
  // In one pass: what replaces one secret must not be searched for the next.
  return text.replace(new RegExp(alternatives.join('|'), 'g'), '[credential]');
}

/** The same for what callers brought. */
export function redactCredentials(text: string, credentials: readonly Credential[]): string {
  return redact(text, credentials.map(revealed));
}

function revealed(credential: Credential): string {
  return credential.reveal();
}

function secretsIn(authorization: readonly string[]): string[] {
  return authorization.flatMap((value) => value.split(/\s+/)).filter((word) => word !== '' && !SCHEME.test(word));
}
