import { requestHeaderName } from '../../core/config/schema/scalars.ts';
import { isObject, type Json } from '../../core/kernel/json-shape.ts';
import { listOf, type Resolve, textOf } from '../describe/shape.ts';

export type Credential =
  | { readonly kind: 'passthrough' }
  | { readonly kind: 'header'; readonly name: string; readonly format?: string };

export interface CredentialGuess {
  readonly credential: Credential;
  readonly why: string;
  readonly doubts: readonly string[];
}

const PASSTHROUGH = { kind: 'passthrough' } as const;
const PREFIX =
  /\b(Token|Bearer|ApiKey|Api-Key|Key|SSWS|Splunk|GenieKey|Basic|apikey)\b[\s"'`]*(?:[<{[(]|prefix|your|token|key|$)|prefix[^A-Za-z]*["'`]?(\w+)/i;

/** Guesses which header takes the token, by the security schemes that `used` names. */
export function guessCredential(schemes: Json, used: readonly string[], resolve: Resolve): CredentialGuess {
  const named = used.filter((name) => Object.hasOwn(schemes, name));
  const candidates = named.length > 0 ? [...new Set(named)] : Object.keys(schemes);
  const guesses = candidates.flatMap((name) => {
    const scheme = resolve(schemes[name]);
    return scheme === undefined ? [] : [{ name, ...guessFor(scheme) }];
  });
  const [best] = guesses.toSorted((a, b) => b.rank - a.rank);
  if (best === undefined) {
    const doubts = ['which header takes the token: the document does not name one'];
    return { credential: PASSTHROUGH, why: 'the usual header, Authorization: Bearer', doubts };
  }
  const doubts = best.doubt === undefined ? [] : [best.doubt];
  return { credential: best.credential, why: `security scheme ${best.name} of the document`, doubts };
}

interface SchemeGuess {
  /** The higher, the rather it is used. */
  readonly rank: number;
  readonly credential: Credential;
  readonly doubt?: string;
}

function guessFor(scheme: Json): SchemeGuess {
  const [type, kind, place] = [scheme['type'], scheme['scheme'], scheme['in']].map((each) =>
    textOf(each).toLowerCase(),
  );
  if (type === 'http' && kind === 'bearer') return { rank: 6, credential: PASSTHROUGH };
  if (type === 'apikey' && place === 'header') return { rank: 5, ...inHeader(scheme) };
  if (type === 'oauth2' || type === 'openidconnect') return { rank: 4, credential: PASSTHROUGH };
  const doubt = 'which header takes the token: the security scheme is of a kind that Portico cannot send';
  return { rank: 0, credential: PASSTHROUGH, doubt };
}

function inHeader(scheme: Json): Omit<SchemeGuess, 'rank'> {
  const name = textOf(scheme['name']);
  if (!requestHeaderName.safeParse(name).success) {
    const doubt = 'which header takes the token: the document names one that cannot be sent';
    return { credential: PASSTHROUGH, doubt };
  }
  if (name.toLowerCase() !== 'authorization') return { credential: { kind: 'header', name } };
  const [, word, prefix = word] = PREFIX.exec(textOf(scheme['description']).slice(0, 500)) ?? [];
  if (prefix === undefined) {
    return { credential: PASSTHROUGH, doubt: 'which word precedes the token in Authorization; Bearer is assumed' };
  }
  if (prefix.toLowerCase() === 'bearer') return { credential: PASSTHROUGH };
  return { credential: { kind: 'header', name, format: `${prefix} {token}` } };
}

/** Returns the names of the schemes that `security` of a document or an operation lists. */
export function schemesIn(security: unknown): string[] | undefined {
  return security === undefined ? undefined : listOf(security).flatMap((way) => Object.keys(isObject(way) ? way : {}));
}
