import type { SecretSettings } from './files/secret-file.ts';

/** Settings of an upstream's credential. */
export type CredentialSettings =
  | { readonly kind: 'passthrough' }
  | {
      readonly kind: 'header';
      readonly name: string;
      /** Holds `{token}` exactly once. */
      readonly format: string;
    }
  | ExchangeSettings
  | ServiceSettings
  | { readonly kind: 'none' };

/** Settings of a token exchange, which its capability reads. */
export interface ExchangeSettings {
  readonly kind: 'exchange';
}

export interface ServiceSettings extends SecretSettings {
  readonly kind: 'service';
  /** User of a Basic credential (RFC 7617). */
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  /** Holds `{token}` exactly once. */
  readonly format?: string | undefined;
}

/** The header of a token. */
export interface Form {
  /** In lower case. */
  readonly header: string;
  readonly format: string;
}

export const BEARER_FORM: Form = { header: 'authorization', format: 'Bearer {token}' };

export function headerForm({ name, format }: { readonly name: string; readonly format: string }): Form {
  return { header: name.toLowerCase(), format };
}

export function serviceForm({ user, name, format }: ServiceSettings): Form {
  const plain = name === undefined ? 'Bearer {token}' : '{token}';
  return {
    header: (name ?? 'Authorization').toLowerCase(),
    format: format ?? (user === undefined ? plain : 'Basic {token}'),
  };
}

/** The value of a header that holds a token. */
export function fill(format: string, token: string): string {
  return format.replace('{token}', () => token);
}

const QUOTE = '"';
/** Separators of parameters (RFC 9110, sections 5.6.1 and 5.6.6). */
const SEPARATORS = [',', ';', QUOTE];
const ESCAPED = /["\\]/g;

/**
 * Returns a function that escapes a caller's token for this format: within quotes it is a quoted-string (RFC 9110, section 5.6.4),
 * else `undefined` for a token that would end early and add parameters that the operator did not write.
 */
export function escapeFor(format: string): (token: string) => string | undefined {
  const [before = '', after = ''] = format.split('{token}');
  if (before.split(QUOTE).length % 2 === 0 && after.includes(QUOTE)) {
    return (token) => token.replace(ESCAPED, '\\$&');
  }
  const ends = [...SEPARATORS.filter((each) => `${before}${after}`.includes(each)), after.trimStart().slice(0, 1)];
  return (token) => (ends.some((end) => end !== '' && token.includes(end)) ? undefined : token);
}

/** The header and format of an upstream's credential; `undefined` if it is given none. */
export function credentialForm(settings: CredentialSettings): Form | undefined {
  switch (settings.kind) {
    case 'passthrough':
    case 'exchange':
      return BEARER_FORM;
    case 'header':
      return headerForm(settings);
    case 'service':
      return serviceForm(settings);
    case 'none':
      return undefined;
  }
}

/** Extracts the credential from headers that were sent in this form. */
export function credentialIn(headers: Readonly<Record<string, string>>, { header, format }: Form): string {
  const [before = '', after = ''] = format.split('{token}');
  const value = headers[header] ?? '';
  return value.slice(before.length, value.length - after.length);
}

/** Extracts secrets other than the caller's own token from sent headers, encoded and decoded. */
export function ownSecretsIn(
  headers: Readonly<Record<string, string>>,
  settings: CredentialSettings | undefined,
): string[] {
  if (settings?.kind !== 'exchange' && settings?.kind !== 'service') return [];
  const form = credentialForm(settings);
  const token = form === undefined ? '' : credentialIn(headers, form);
  if (settings.kind === 'exchange' || settings.user === undefined) return [token];
  return [
    token,
    Buffer.from(token, 'base64')
      .toString('utf8')
      .slice(settings.user.length + 1),
  ];
}
