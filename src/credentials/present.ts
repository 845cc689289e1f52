import type { Credential } from '../kernel/caller.ts';

/** What settings say of an upstream's credential. */
export type CredentialSettings =
  | { readonly kind: 'passthrough' }
  | {
      readonly kind: 'header';
      readonly name: string;
      /** Holds `{token}` exactly once. */
      readonly format: string;
    }
  | { readonly kind: 'none' };

/** What an upstream is given to know the caller; fits `Presenter` of the upstream floor. */
export interface CredentialPresenter {
  /** Whether it is the caller's own token. */
  readonly callersOwn: boolean;
  headers(credential: Credential): Readonly<Record<string, string>>;
}

const NO_HEADERS = Object.freeze({});

export function createPresenter(settings: CredentialSettings): CredentialPresenter {
  switch (settings.kind) {
    case 'passthrough':
      return createHeaderPresenter('authorization', 'Bearer {token}');
    case 'header':
      return createHeaderPresenter(settings.name, settings.format);
    case 'none':
      return { callersOwn: false, headers: () => NO_HEADERS };
  }
}

function createHeaderPresenter(name: string, format: string): CredentialPresenter {
  const [before = '', after = ''] = format.split('{token}');
  return { callersOwn: true, headers: (credential) => ({ [name]: before + credential.reveal() + after }) };
}
