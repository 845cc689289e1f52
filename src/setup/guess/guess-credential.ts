import { isObject, type Json, listOf, type Resolve, textOf } from '../describe/shape.ts';

/** The setting `credential`, as a file holds it. */
export type Credential =
  | { readonly kind: 'passthrough' }
  | { readonly kind: 'header'; readonly name: string; readonly format?: string };

export interface CredentialGuess {
  readonly credential: Credential;
  readonly why: string;
  readonly doubts: readonly string[];
}

const PASSTHROUGH = { kind: 'passthrough' } as const;
/** Words before a token in an Authorization header. */
const PREFIX =
  /\b(Token|Bearer|ApiKey|Api-Key|Key|SSWS|Splunk|GenieKey|Basic|apikey)\b[\s"'`]*(?:[<{[(]|prefix|your|token|key|$)|prefix[^A-Za-z]*["'`]?(\w+)/i;

/** Headers that settings cannot send, since HTTP or Portico sets them. */
export const NOT_SENT =
  /^(?:connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|accept-encoding|if-.*|range|traceparent|tracestate|x-request-id|proxy-.*)$/i;

/** Guesses which header takes the token, by the security schemes that `used` names. Each of its lists is one sufficient combination. */
export function guessCredential(
  schemes: Json,
  used: readonly (readonly string[])[],
  resolve: Resolve,
): CredentialGuess {
  const names = used.flat().filter((name) => Object.hasOwn(schemes, name));
  const candidates = names.length > 0 ? [...new Set(names)] : Object.keys(schemes);
  const guesses = candidates.flatMap((name) => {
    const scheme = resolve(schemes[name]);
    return scheme === undefined ? [] : [guessFor(name, scheme)];
  });
  const [best] = guesses.toSorted((a, b) => b.rank - a.rank);
  if (best !== undefined) return withCompanions(best, used, schemes, resolve);
  const doubts = ['which header takes the token: the document does not name one'];
  return { credential: PASSTHROUGH, why: 'the usual header, Authorization: Bearer', doubts };
}

type Ranked = CredentialGuess & { readonly rank: number; readonly name: string };

function guessFor(name: string, scheme: Json): Ranked {
  const type = textOf(scheme['type']).toLowerCase();
  const kind = textOf(scheme['scheme']).toLowerCase();
  const why = `security scheme ${name} of the document`;
  const none = { name, why, doubts: [] };
  if ((type === 'http' && kind === 'bearer') || type === 'oauth2' || type === 'openidconnect') {
    return { ...none, rank: kind === 'bearer' ? 6 : 4, credential: PASSTHROUGH };
  }
  if (type === 'basic' || (type === 'http' && kind === 'basic')) {
    const credential = { kind: 'header', name: 'Authorization', format: 'Basic {token}' } as const;
    const doubts = ['how callers get a token, which here is the base64 form of user:password'];
    return { ...none, rank: 2, credential, doubts };
  }
  if (type === 'apikey' && textOf(scheme['in']) === 'header') return { ...none, rank: 5, ...inHeader(scheme) };
  const doubts = [`which header takes the token: ${why} is of a kind that Portico cannot send`];
  return { ...none, rank: 0, credential: PASSTHROUGH, doubts };
}

function inHeader(scheme: Json): Pick<CredentialGuess, 'credential' | 'doubts'> {
  const name = textOf(scheme['name']);
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || NOT_SENT.test(name)) {
    return {
      credential: PASSTHROUGH,
      doubts: ['which header takes the token: the document names one that cannot be sent'],
    };
  }
  if (name.toLowerCase() !== 'authorization') return { credential: { kind: 'header', name }, doubts: [] };
  const [, word, prefix] = PREFIX.exec(textOf(scheme['description']).slice(0, 500)) ?? [];
  const found = prefix ?? word;
  if (found === undefined) {
    return {
      credential: PASSTHROUGH,
      doubts: ['which word precedes the token in Authorization; Bearer is assumed'],
    };
  }
  if (found.toLowerCase() === 'bearer') return { credential: PASSTHROUGH, doubts: [] };
  return { credential: { kind: 'header', name, format: `${found} {token}` }, doubts: [] };
}

/** Adds a doubt if the scheme is only sufficient together with another one. */
function withCompanions(best: Ranked, used: readonly (readonly string[])[], schemes: Json, resolve: Resolve) {
  const { credential, why, doubts } = best;
  const ways = used.filter((way) => way.includes(best.name));
  if (ways.length === 0 || ways.some((way) => way.length === 1)) return { credential, why, doubts };
  const [others = []] = ways.map((way) => way.filter((name) => name !== best.name));
  const headers = others.map((name) => textOf(resolve(schemes[name])?.['name']) || name);
  return {
    credential,
    why,
    doubts: [...doubts, `what else the platform requires besides the token: ${headers.join(', ')}`],
  };
}

/** Returns the combinations of schemes that `security` of a document or an operation lists. */
export function waysIn(security: unknown): string[][] | undefined {
  if (security === undefined) return undefined;
  return listOf(security).flatMap((way) => (isObject(way) && Object.keys(way).length > 0 ? [Object.keys(way)] : []));
}
