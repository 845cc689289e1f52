import type { Credential } from '../kernel/caller.ts';

const SCHEME = /^bearer$/i;
const SYNTAX = /[.*+?^${}()|[\]\\/-]/g;

/** Whether `text` holds anything that stands in these `Authorization` values beside the scheme, valid or not. */
export function mentionsCredential(text: string, authorization: readonly string[]): boolean {
  return secretsIn(authorization).some((secret) => text.includes(secret));
}

/** `text` with all that stands in these `Authorization` values beside the scheme replaced, plain or percent-encoded. */
export function scrub(text: string, authorization: readonly string[]): string {
  const secrets = secretsIn(authorization);
  if (secrets.length === 0) return text;
  // In one pass: what replaces one secret must not be searched for the next.
  const anySecret = new RegExp(
    secrets
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      .map((secret) => secret.replace(SYNTAX, '\\$&'))
      .join('|'),
    'g',
  );
  return text.replace(anySecret, '[credential]');
}

/** `text` with this token replaced. */
export function scrubCredential(text: string, credential: Credential): string {
  return scrub(text, [credential.reveal()]);
}

/** Longest first, so that a secret within another one leaves nothing of it behind. */
function secretsIn(authorization: readonly string[]): string[] {
  return authorization
    .flatMap((value) => value.split(/\s+/))
    .filter((word) => word !== '' && !SCHEME.test(word))
    .sort((a, b) => b.length - a.length);
}
