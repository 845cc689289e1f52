import type { Credential } from '../kernel/caller.ts';

const SCHEME = /^bearer$/i;
const SYNTAX = /[.*+?^${}()|[\]\\/-]/g;

/** Whether `text` holds anything that stands in these `Authorization` values beside the scheme, valid or not. */
export function mentionsCredential(text: string, authorization: readonly string[]): boolean {
  return secretsIn(authorization).some((secret) => text.includes(secret));
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

/** `text` with this token replaced, where one came. */
export function redactCredential(text: string, credential: Credential | undefined): string {
  return redact(text, credential === undefined ? [] : [credential.reveal()]);
}

function secretsIn(authorization: readonly string[]): string[] {
  return authorization.flatMap((value) => value.split(/\s+/)).filter((word) => word !== '' && !SCHEME.test(word));
}
