/** The header and format of a credential. */
export interface CredentialForm {
  /** Name in lower case. */
  readonly header: string;
  /** Holds `{token}` exactly once. */
  readonly format: string;
}

interface FormSettings {
  readonly name?: string | undefined;
  readonly user?: string | undefined;
  readonly format?: string | undefined;
  readonly cookie?: string | undefined;
}

/** Whose credential a platform sees, and who verifies the token of a caller. */
interface CredentialFacts {
  /** Whether the platform sees the caller's own token: its 401 is then the caller's. */
  readonly usesCallerToken: boolean;
  /**
   * Whether the platform sees a token of the caller or one that was made for the caller: a 403 is then the caller's, and a 2xx shows
   * that the caller's token is valid. If not, Portico has to verify callers.
   */
  readonly provesToken: boolean;
  /** `undefined` where nothing is sent. */
  readonly form: (settings: FormSettings) => CredentialForm | undefined;
}

const OF_CALLER = { usesCallerToken: true, provesToken: true };
const EXCHANGED = { usesCallerToken: false, provesToken: true };
const OF_PORTICO = { usesCallerToken: false, provesToken: false };

const bearer = () => ({ header: 'authorization', format: 'Bearer {token}' });

function configured({ name, user, format }: FormSettings): CredentialForm {
  const plain = name === undefined ? 'Bearer {token}' : '{token}';
  const byDefault = user === undefined ? plain : 'Basic {token}';
  return { header: (name ?? 'Authorization').toLowerCase(), format: format ?? byDefault };
}

function sessionForm({ name, format, cookie }: FormSettings): CredentialForm {
  if (cookie !== undefined) return { header: 'cookie', format: `${cookie}={token}` };
  return configured({ name, format });
}

/** Every kind of credential that an upstream can be given. Everything that depends on the kind is decided here. */
export const CREDENTIAL_KINDS = {
  passthrough: { ...OF_CALLER, form: bearer },
  header: { ...OF_CALLER, form: configured },
  exchange: { ...EXCHANGED, form: bearer },
  service: { ...OF_PORTICO, form: configured },
  'client-credentials': { ...OF_PORTICO, form: bearer },
  session: { ...OF_PORTICO, form: sessionForm },
  none: { ...OF_PORTICO, form: () => undefined },
} satisfies Readonly<Record<string, CredentialFacts>>;

export type CredentialKind = keyof typeof CREDENTIAL_KINDS;

/** Returns the header and format of a credential; `undefined` where none is sent. */
export function credentialForm<Kind extends CredentialKind>(
  settings: FormSettings & { readonly kind: Kind },
): ReturnType<(typeof CREDENTIAL_KINDS)[Kind]['form']> {
  const { form } = CREDENTIAL_KINDS[settings.kind];
  return form(settings) as ReturnType<(typeof CREDENTIAL_KINDS)[Kind]['form']>;
}

export function filledForm({ format }: CredentialForm, token: string): string {
  return format.replace('{token}', () => token);
}
