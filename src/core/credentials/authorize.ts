import { type Caller, Credential } from '../kernel/caller.ts';
import {
  CREDENTIAL_KINDS,
  type CredentialForm,
  type CredentialKind,
  credentialForm,
  filledForm,
} from '../kernel/credential-kinds.ts';
import { errorWithDetail } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { openSecret, type SecretSettings } from './files/secret-file.ts';
import type { WatchOptions } from './files/watched-files.ts';

export type AuthorizationSettings =
  | { readonly kind: 'passthrough' }
  | {
      readonly kind: 'header';
      readonly name: string;
      /** Holds `{token}` exactly once. */
      readonly format: string;
    }
  | ServiceSettings
  | ObtainedSettings
  | { readonly kind: 'none' };

/** Settings of a token that a capability obtains. */
interface ObtainedSettings {
  readonly kind: 'client-credentials' | 'exchange' | 'session';
  readonly name?: string | undefined;
  readonly format?: string | undefined;
  readonly cookie?: string | undefined;
}

interface ServiceSettings extends SecretSettings {
  readonly kind: 'service';
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  /** Holds `{token}` exactly once. */
  readonly format?: string | undefined;
  /** A second secret in a header of its own. */
  readonly second?: (SecretSettings & { readonly name: string; readonly format: string }) | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** The credential of an upstream, as options of `openUpstream`. */
export interface Authorization {
  authorize(caller: Caller, signal: AbortSignal): Promise<Headers>;
  /** Called after a 401 to them. Returns whether there are newer ones. @default there are none */
  refused?(caller: Caller, given: Headers): boolean;
  close?(): Promise<void>;
}

/** Opens a kind of credential whose token is obtained. Throws `UnusableFile`. */
export type OpenCredential = (settings: ObtainedSettings, options: CredentialOptions) => Authorization;

/** Functions of capabilities that open credentials, by kind. */
export type OpenCredentials = Readonly<Partial<Record<CredentialKind, OpenCredential>>>;

export interface CredentialOptions extends WatchOptions {
  readonly upstream: string;
  readonly events: Events;
  readonly openServer: (own: { readonly timeoutMs: number; readonly maxBytes: number }) => {
    readonly send: SendRequest;
    close(): Promise<void>;
  };
  /** Contributed by capabilities. @default no token can be obtained */
  readonly credentials?: OpenCredentials | undefined;
}

/** Rejects with a `GatewayError` for a reply that is neither success nor refusal. */
export type SendRequest = (
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

/** Throws `UnusableFile`. */
export function openAuthorization(settings: AuthorizationSettings, options: CredentialOptions): Authorization {
  switch (settings.kind) {
    case 'passthrough':
    case 'header':
      return ofCaller(credentialForm(settings), options);
    case 'service':
      return ofPortico(settings, options);
    case 'client-credentials':
    case 'exchange':
    case 'session': {
      const open = options.credentials?.[settings.kind];
      if (open === undefined) throw new Error(`no capability opens credentials of kind ${settings.kind}`);
      return open(settings, options);
    }
    case 'none':
      return { authorize: async () => NO_HEADERS };
  }
}

function ofCaller(form: CredentialForm, { upstream }: Pick<CredentialOptions, 'upstream'>): Authorization {
  const ends = endsIn(form.format);
  return {
    async authorize({ credential }) {
      const token = credential.reveal();
      if (ends.some((end) => token.includes(end)))
        throw errorWithDetail('credential_malformed', ENDS_EARLY, { upstream });
      return { [form.header]: filledForm(form, token) };
    },
  };
}

function ofPortico({ second, ...first }: ServiceSettings, options: WatchOptions): Authorization {
  const opened = openHeader(first, options);
  if (second === undefined) return opened;
  const other = openHeader({ kind: 'service', ...second }, options, 'second.file');
  return {
    authorize: async (caller, signal) => ({
      ...(await opened.authorize(caller, signal)),
      ...(await other.authorize(caller, signal)),
    }),
  };
}

function openHeader(settings: ServiceSettings, options: WatchOptions, key?: string): Authorization {
  const { user } = settings;
  const form = credentialForm(settings);
  const opened = openSecret(settings, options, key);
  return {
    async authorize(_caller, signal) {
      const secret = (await opened.current(signal)).reveal();
      return { [form.header]: filledForm(form, user === undefined ? secret : basicPair(user, secret)) };
    },
  };
}

/** Returns user and password for Basic credentials (RFC 7617, section 2). */
export function basicPair(user: string, password: string): string {
  return Buffer.from(`${user}:${password}`).toString('base64');
}

interface ProxyUser {
  readonly user?: string | undefined;
  /** @default empty */
  readonly password?: string | undefined;
}

/** Basic credential for a proxy (RFC 7617; RFC 9110, section 11.7.2). */
export function proxyAuthorization({ user, password = '' }: ProxyUser): (() => string) | undefined {
  if (user === undefined) return undefined;
  const held = new Credential(basicPair(user, password));
  return () => `Basic ${held.reveal()}`;
}

/** Returns the characters that would end a token early in this format, and could add parameters (RFC 9110, sections 5.6.1, 5.6.4, 5.6.6). */
function endsIn(format: string): string[] {
  const [before = '', after = ''] = format.split('{token}');
  const separators = [',', ';', '"'].filter((one) => `${before}${after}`.includes(one));
  const escapes = separators.includes('"') ? ['\\'] : [];
  return [...separators, ...escapes, after.trimStart().slice(0, 1)].filter((one) => one !== '');
}

/** Extracts the credential from headers that were sent in this form. */
export function credentialIn(headers: Readonly<Record<string, string>>, { header, format }: CredentialForm): string {
  const [before = '', after = ''] = format.split('{token}');
  const value = headers[header] ?? '';
  return value.slice(before.length, value.length - after.length);
}

/** Extracts secrets of Portico from sent headers, encoded and decoded. */
export function ownSecretsIn(headers: Headers, settings: AuthorizationSettings | undefined): string[] {
  if (settings === undefined || CREDENTIAL_KINDS[settings.kind].usesCallerToken) return [];
  const { user, second } = settings as Partial<ServiceSettings>;
  const forms = [credentialForm(settings), second && credentialForm({ kind: 'service', ...second })];
  const [token = '', ...others] = forms.flatMap((form) => (form === undefined ? [] : credentialIn(headers, form)));
  const password = Buffer.from(token, 'base64')
    .toString('utf8')
    .slice(user === undefined ? 0 : user.length + 1);
  return [token, ...others, ...(user === undefined ? [] : [password])];
}
