import { isObject, type Json, listOf, type Resolve, textOf } from '../description/shape.ts';

/** The setting `credential`, as a file holds it. */
export type Credential =
  | { readonly kind: 'passthrough' }
  | { readonly kind: 'header'; readonly name: string; readonly format?: string };

export interface CredentialProposal {
  readonly credential: Credential;
  readonly why: string;
  readonly doubts: readonly string[];
}

const PASSTHROUGH = { kind: 'passthrough' } as const;
/** Words that stand ahead of a token in an Authorization header. */
const PREFIX =
  /\b(Token|Bearer|ApiKey|Api-Key|Key|SSWS|Splunk|GenieKey|Basic|apikey)\b[\s"'`]*(?:[<{[(]|prefix|your|token|key|$)|prefix[^A-Za-z]*["'`]?(\w+)/i;

/** Headers that settings may not send: HTTP or Portico itself decides on them. */
export const NOT_SENT =
  /^(?:connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|accept-encoding|if-.*|range|traceparent|tracestate|x-request-id|proxy-.*)$/i;

/** Proposes where the token goes, by the security schemes that `used` names; each of its lists is one way in. */
export function proposeCredential(
  schemes: Json,
  used: readonly (readonly string[])[],
  resolve: Resolve,
): CredentialProposal {
  const names = used.flat().filter((name) => Object.hasOwn(schemes, name));
  const looked = names.length > 0 ? [...new Set(names)] : Object.keys(schemes);
  const proposals = looked.flatMap((name) => {
    const scheme = resolve(schemes[name]);
    return scheme === undefined ? [] : [proposeFor(name, scheme)];
  });
  const [best] = proposals.toSorted((a, b) => b.rank - a.rank);
  if (best !== undefined) return withCompanions(best, used, schemes, resolve);
  const doubts = ['which header takes the token: the document names none'];
  return { credential: PASSTHROUGH, why: 'the usual one, Authorization: Bearer', doubts };
}

type Ranked = CredentialProposal & { readonly rank: number; readonly name: string };

function proposeFor(name: string, scheme: Json): Ranked {
  const type = textOf(scheme['type']).toLowerCase();
  const kind = textOf(scheme['scheme']).toLowerCase();
  const why = `security scheme ${name} of the document`;
  const none = { name, why, doubts: [] };
  if ((type === 'http' && kind === 'bearer') || type === 'oauth2' || type === 'openidconnect') {
    return { ...none, rank: kind === 'bearer' ? 6 : 4, credential: PASSTHROUGH };
  }
  if (type === 'basic' || (type === 'http' && kind === 'basic')) {
    const credential = { kind: 'header', name: 'Authorization', format: 'Basic {token}' } as const;
    const doubts = ['how callers get a token: here it is the base64 form of user:password'];
    return { ...none, rank: 2, credential, doubts };
  }
  if (type === 'apikey' && textOf(scheme['in']) === 'header') return { ...none, rank: 5, ...inHeader(scheme) };
  const doubts = [`which header takes the token: ${why} is of a kind that Portico does not send`];
  return { ...none, rank: 0, credential: PASSTHROUGH, doubts };
}

function inHeader(scheme: Json): Pick<CredentialProposal, 'credential' | 'doubts'> {
  const name = textOf(scheme['name']);
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || NOT_SENT.test(name)) {
    return { credential: PASSTHROUGH, doubts: ['which header takes the token: the document names none that is one'] };
  }
  if (name.toLowerCase() !== 'authorization') return { credential: { kind: 'header', name }, doubts: [] };
  const [, word, prefix] = PREFIX.exec(textOf(scheme['description']).slice(0, 500)) ?? [];
  const found = prefix ?? word;
  if (found === undefined) {
    return {
      credential: PASSTHROUGH,
      doubts: ['what stands ahead of the token in Authorization: Bearer, as here, or else'],
    };
  }
  if (found.toLowerCase() === 'bearer') return { credential: PASSTHROUGH, doubts: [] };
  return { credential: { kind: 'header', name, format: `${found} {token}` }, doubts: [] };
}

/** A scheme that is always asked for together with another one is not enough by itself. */
function withCompanions(best: Ranked, used: readonly (readonly string[])[], schemes: Json, resolve: Resolve) {
  const { credential, why, doubts } = best;
  const ways = used.filter((way) => way.includes(best.name));
  if (ways.length === 0 || ways.some((way) => way.length === 1)) return { credential, why, doubts };
  const [others = []] = ways.map((way) => way.filter((name) => name !== best.name));
  const headers = others.map((name) => textOf(resolve(schemes[name])?.['name']) || name);
  return { credential, why, doubts: [...doubts, `what the platform wants beside the token: ${headers.join(', ')}`] };
}

/** The ways in that a `security` of a document or an operation lists. */
export function waysIn(security: unknown): string[][] | undefined {
  if (security === undefined) return undefined;
  return listOf(security).flatMap((way) => (isObject(way) && Object.keys(way).length > 0 ? [Object.keys(way)] : []));
}
