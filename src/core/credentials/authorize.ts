import {
  type ExchangeOptions,
  type ExchangeSettings,
  openExchange,
} from '../../capabilities/token-exchange/open-exchange.ts';
import { Credential } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Authorization } from './authorization.ts';
import { openSecretFile } from './files/secret-file.ts';
import type { Unusable, WatchOptions } from './files/watched-files.ts';
import { createHeaderFormat } from './header-format.ts';

/** What settings say of an upstream's credential. */
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

/** A secret of Portico's own: one of `secret` and `file`. */
interface ServiceSettings {
  readonly kind: 'service';
  readonly secret?: string | undefined;
  readonly file?: string | undefined;
  /** Goes ahead of the secret, as Basic has it (RFC 7617). */
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  /** Holds `{token}` exactly once. */
  readonly format?: string | undefined;
}

const ENDS_EARLY =
  'The credential has a character that would end it in the form in which this platform is given credentials.';

const NO_HEADERS = Object.freeze({});

/** Reads the files of secrets, and says why where one gives none. */
export function openAuthorization(settings: CredentialSettings, options: ExchangeOptions): Authorization | Unusable {
  switch (settings.kind) {
    case 'passthrough':
      return ofCaller({ header: 'authorization', format: 'Bearer {token}' }, options);
    case 'header':
      return ofCaller({ header: settings.name.toLowerCase(), format: settings.format }, options);
    case 'exchange':
      return openExchange(settings, options);
    case 'service':
      return ofPortico(settings, options);
    case 'none':
      return { callersOwn: false, authorize: async () => NO_HEADERS };
  }
}

/** Where a token stands. */
export interface Form {
  /** In lower case. */
  readonly header: string;
  readonly format: string;
}

function ofCaller({ header, format }: Form, { upstream }: Pick<ExchangeOptions, 'upstream'>): Authorization {
  const { fillSafely } = createHeaderFormat(format);
  return {
    callersOwn: true,
    async authorize({ credential }) {
      const value = fillSafely(credential.reveal());
      if (value === undefined) throw new GatewayError('credential_malformed', { detail: ENDS_EARLY, upstream });
      return { [header]: value };
    },
  };
}

function ofPortico(settings: ServiceSettings, options: WatchOptions): Authorization | Unusable {
  const { secret = '', file, user } = settings;
  const { header, format } = serviceForm(settings);
  const { fill } = createHeaderFormat(format);
  const headersFor = (held: Credential) => {
    const token = held.reveal();
    const filled = fill(user === undefined ? token : Buffer.from(`${user}:${token}`).toString('base64'));
    return Object.freeze({ [header]: filled });
  };
  if (file === undefined) {
    const headers = headersFor(new Credential(secret));
    return { callersOwn: false, authorize: async () => headers };
  }
  const opened = openSecretFile(file, options);
  if ('issue' in opened) return opened;
  return { callersOwn: false, authorize: async (_caller, signal) => headersFor(await opened.current(signal)) };
}

function serviceForm({ user, name, format }: ServiceSettings): Form {
  const plain = name === undefined ? 'Bearer {token}' : '{token}';
  return {
    header: (name ?? 'Authorization').toLowerCase(),
    format: format ?? (user === undefined ? plain : 'Basic {token}'),
  };
}

/** In which header, and how, an upstream is given a credential; `undefined` where it is given none. */
export function credentialForm(settings: CredentialSettings): Form | undefined {
  switch (settings.kind) {
    case 'passthrough':
    case 'exchange':
      return { header: 'authorization', format: 'Bearer {token}' };
    case 'header':
      return { header: settings.name.toLowerCase(), format: settings.format };
    case 'service':
      return serviceForm(settings);
    case 'none':
      return undefined;
  }
}

/** The credential in headers that were sent in this form. */
export function credentialIn(headers: Readonly<Record<string, string>>, { header, format }: Form): string {
  const [before = '', after = ''] = format.split('{token}');
  const value = headers[header] ?? '';
  return value.slice(before.length, value.length - after.length);
}

/** What in headers that were sent is no token of the caller's own, and secret, in each form of it. */
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
