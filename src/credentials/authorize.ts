import type { Caller } from '../kernel/caller.ts';

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

/** How an upstream is told who asks; fits the options of `openUpstream`. */
export interface Authorization {
  /** Whether it is given the caller's own token. */
  readonly callersOwn: boolean;
  /** The headers that tell it who asks. */
  authorize(caller: Caller): Promise<Readonly<Record<string, string>>>;
}

const NO_HEADERS = Object.freeze({});

export function createAuthorization(settings: CredentialSettings): Authorization {
  switch (settings.kind) {
    case 'passthrough':
      return tokenIn('authorization', 'Bearer {token}');
    case 'header':
      return tokenIn(settings.name.toLowerCase(), settings.format);
    case 'none':
      return { callersOwn: false, authorize: async () => NO_HEADERS };
  }
}

function tokenIn(header: string, format: string): Authorization {
  const [before = '', after = ''] = format.split('{token}');
  return {
    callersOwn: true,
    authorize: async ({ credential }) => ({ [header]: before + credential.reveal() + after }),
  };
}
