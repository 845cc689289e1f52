import type { CredentialGuess } from '../guess/guess-credential.ts';
import type { Shape } from './shape.ts';

/** What is known of a platform: from its OpenAPI document, or from its own replies. */
export interface Description {
  readonly title: string;
  /** Where the API lives, as written: can be relative, and hold `{variables}` without a value. Empty if unknown. */
  readonly server: string;
  readonly listings: readonly Listing[];
  /** Guesses the credential for operations with these security requirements. */
  credentialFor(used: Listing['security']): CredentialGuess;
}

/** A `GET` that returns a list, as a document describes it or as replies show it. */
export interface Listing {
  /** Below the base URL, with `{name}` for each variable part: `/orgs/{org}/installations`. */
  readonly path: string;
  readonly title: string;
  /** Expression that selects the items of a body, and whether another list could be meant. */
  readonly items: string;
  readonly itemsInDoubt: boolean;
  readonly item: Shape;
  readonly body: Shape;
  /** Response headers by name in lower case. Values are empty if a document describes them. */
  readonly headers: ReadonlyMap<string, string>;
  /** Those of the query. */
  readonly parameters: readonly Parameter[];
  readonly security: readonly string[];
  /** Number of items in the reply without parameters, if one was seen. */
  readonly count?: number;
}

export type PagedList = Pick<Listing, 'body' | 'headers' | 'parameters' | 'count'>;

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  /** Its default, or the only value that it can have. */
  readonly value: string | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly isNumber: boolean;
  readonly isFlag: boolean;
  /** What it does, if that was found out by requests or is shown by a page. @default by its name */
  readonly role?: ParameterRole;
}

export type ParameterRole = 'size' | 'token' | 'offset' | 'page';

/** A query parameter that no document describes. */
export function undocumented(
  name: string,
  role: ParameterRole,
  known: Partial<Pick<Parameter, 'value' | 'minimum' | 'maximum'>> = {},
): Parameter {
  const unknown = { value: undefined, minimum: undefined, maximum: undefined };
  return {
    ...{ name, role, required: false, isNumber: role !== 'token', isFlag: false },
    ...{ ...unknown, ...known },
  };
}

/** Returns the last segment of a path that is not a variable. */
export function lastName(path: string): string {
  return path.split('/').findLast((segment) => segment !== '' && !segment.startsWith('{')) ?? '';
}
