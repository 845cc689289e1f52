import { type Caller, Credential } from '../kernel/caller.ts';
import { CREDENTIAL_KINDS, type CredentialForm, credentialForm } from '../kernel/credential-kinds.ts';
import { explained } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { openSecret, type SecretSettings } from './files/secret-file.ts';
import type { Unusable, WatchOptions } from './files/watched-files.ts';

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

export interface ExchangeSettings {
  readonly kind: 'exchange';
}

interface ServiceSettings extends SecretSettings {
  readonly kind: 'service';
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  /** Holds `{token}` exactly once. */
  readonly format?: string | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** The credential of an upstream, as options of `openUpstream`. */
export interface Authorization {
  authorize(caller: Caller, signal: AbortSignal): Promise<Headers>;
  /** Called after a 401 to them. Returns whether there are newer ones. @default there are none */
  refused?(caller: Caller, given: Headers): boolean;
  close?(): Promise<void>;
}

/** Opens the exchange of callers' tokens; returns the issue of a file that cannot be used. */
export type OpenExchange = (settings: ExchangeSettings, options: CredentialOptions) => Authorization | Unusable;

export interface CredentialOptions extends WatchOptions {
  readonly upstream: string;
  readonly events: Events;
  readonly openServer: (own: { readonly timeoutMs: number; readonly maxBytes: number }) => {
    readonly send: Send;
    close(): Promise<void>;
  };
  /** Contributed by a capability. @default no token can be exchanged */
  readonly openExchange?: OpenExchange | undefined;
}

/** Rejects with a `GatewayError` for a reply that is neither success nor refusal. */
export type Send = (
  request: {
    readonly url: URL;
    readonly headers: Headers;
    readonly body: string | undefined;
    readonly caller: Caller;
  },
  signal: AbortSignal,
) => Promise<Response>;

const ENDS_EARLY = 'The credential has a character that the configured format of this platform cannot carry.';

const NO_HEADERS = Object.freeze({});

/** Returns the issue of a file that cannot be used. */
export function openAuthorization(settings: CredentialSettings, options: CredentialOptions): Authorization | Unusable {
  switch (settings.kind) {
    case 'passthrough':
    case 'header':
      return ofCaller(credentialForm(settings), options);
    case 'service':
      return ofPortico(settings, credentialForm(settings), options);
    case 'exchange':
      if (options.openExchange === undefined) throw new Error('settings exchange tokens, and no capability does');
      return options.openExchange(settings, options);
    case 'none':
      return { authorize: async () => NO_HEADERS };
  }
}

function ofCaller(
  { header, format }: CredentialForm,
  { upstream }: Pick<CredentialOptions, 'upstream'>,
): Authorization {
  const escapeToken = escapeFor(format);
  return {
    async authorize({ credential }) {
      const token = escapeToken(credential.reveal());
      if (token === undefined) throw explained('credential_malformed', ENDS_EARLY, { upstream });
      return { [header]: fill(format, token) };
    },
  };
}

function ofPortico(
  { user, ...settings }: ServiceSettings,
  { header, format }: CredentialForm,
  options: WatchOptions,
): Authorization | Unusable {
  const opened = openSecret(settings, options);
  if ('issue' in opened) return opened;
  return {
    async authorize(_caller, signal) {
      const secret = (await opened.current(signal)).reveal();
      const token = user === undefined ? secret : Buffer.from(`${user}:${secret}`).toString('base64');
      return { [header]: fill(format, token) };
    },
  };
}

export interface ProxyUser {
  readonly user?: string | undefined;
  /** @default empty */
  readonly password?: string | undefined;
}

/** Basic credential for a proxy (RFC 7617; RFC 9110, section 11.7.2). */
export function proxyAuthorization({ user, password = '' }: ProxyUser): (() => string) | undefined {
  if (user === undefined) return undefined;
  const held = new Credential(Buffer.from(`${user}:${password}`).toString('base64'));
  return () => `Basic ${held.reveal()}`;
}

function fill(format: string, token: string): string {
  return format.replace('{token}', () => token);
}

const QUOTE = '"';
/** Separators of parameters (RFC 9110, sections 5.6.1 and 5.6.6). */
const SEPARATORS = [',', ';', QUOTE];
const ESCAPED = /["\\]/g;

/** Escapes a token as a quoted-string (RFC 9110, section 5.6.4); `undefined` for one that would end early and add parameters. */
function escapeFor(format: string): (token: string) => string | undefined {
  const [before = '', after = ''] = format.split('{token}');
  if (before.split(QUOTE).length % 2 === 0 && after.includes(QUOTE)) {
    return (token) => token.replace(ESCAPED, '\\$&');
  }
  const ends = [...SEPARATORS.filter((each) => `${before}${after}`.includes(each)), after.trimStart().slice(0, 1)];
  return (token) => (ends.some((end) => end !== '' && token.includes(end)) ? undefined : token);
}

/** Extracts the credential from headers that were sent in this form. */
export function credentialIn(headers: Readonly<Record<string, string>>, { header, format }: CredentialForm): string {
  const [before = '', after = ''] = format.split('{token}');
  const value = headers[header] ?? '';
  return value.slice(before.length, value.length - after.length);
}

/** Extracts secrets of Portico from sent headers, encoded and decoded. */
export function ownSecretsIn(
  headers: Readonly<Record<string, string>>,
  settings: CredentialSettings | undefined,
): string[] {
  if (settings === undefined || CREDENTIAL_KINDS[settings.kind].usesCallerToken) return [];
  const form = credentialForm(settings);
  if (form === undefined) return [];
  const token = credentialIn(headers, form);
  if (!('user' in settings) || settings.user === undefined) return [token];
  const decoded = Buffer.from(token, 'base64').toString('utf8');
  return [token, decoded.slice(settings.user.length + 1)];
}
