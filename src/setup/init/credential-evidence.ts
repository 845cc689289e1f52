import { requestHeaderName } from '../../core/config/schema/scalars.ts';
import type { Json } from '../../core/kernel/json-shape.ts';
import type { Api, Operation } from './openapi-document.ts';
import { textOf } from './shape.ts';

export interface CredentialEvidence {
  readonly seen: string;
  /** The setting `credential`; `undefined` where the document leaves it open. */
  readonly credential: Readonly<Record<string, string>> | undefined;
  /** What it may be then. */
  readonly likely?: Readonly<Record<string, string>> | undefined;
}

/** Words before the token in `Authorization`, as platforms write them. */
const WORDS = 'Token|Bearer|ApiKey|Api-Key|SSWS|Splunk|GenieKey|apikey|Key';
/** `Authorization: SSWS {key}`, "prefixed with SSWS", "the prefix `Token`". A word in the middle of a sentence is none. */
const PREFIX = new RegExp(
  `(?:Authorization:?\\s*["'\`]?|prefix(?:ed)?\\s+(?:it\\s+|of\\s+|is\\s+|with\\s+|by\\s+)*["'\`]?)(${WORDS})\\b|["'\`](${WORDS})["'\`]?\\s+[<{[$]`,
);

/** Reads which header takes the token, where all of these operations agree. */
export function readCredential({ securitySchemes }: Api, operations: readonly Operation[]): CredentialEvidence {
  const ways = operations.flatMap(({ security }) => security).filter((names) => names.length > 0);
  const alone = new Set(ways.filter((names) => names.length === 1).flat());
  const together = ways.find((names) => names.length > 1);
  if (alone.size === 0 && together !== undefined) {
    return { seen: `the document requires ${together.join(' and ')} together`, credential: undefined };
  }
  const names = alone.size > 0 ? [...alone] : [...securitySchemes.keys()];
  const readings = names.flatMap((name) => {
    const scheme = securitySchemes.get(name);
    return scheme === undefined ? [] : [{ name, ...readScheme(scheme, name) }];
  });
  const [best, ...others] = readings.toSorted((a, b) => b.rank - a.rank);
  if (best === undefined) return { seen: 'the document names no security scheme', credential: undefined };
  const also = others.map(({ name, seen }) => `${name} (${seen})`).join(', ');
  return { ...best, seen: `security scheme ${best.name}: ${best.seen}${also && `; others are ${also}`}` };
}

const PASSTHROUGH = { kind: 'passthrough' };
const AUTHORIZATION = { kind: 'header', name: 'Authorization' };

function readScheme(scheme: Json, called: string): CredentialEvidence & { readonly rank: number } {
  const [type, kind, place] = ['type', 'scheme', 'in'].map((key) => textOf(scheme[key]).toLowerCase());
  if (type === 'http' && kind === 'bearer') return { rank: 4, seen: 'a bearer token', credential: PASSTHROUGH };
  if (type === 'oauth2' || type === 'openidconnect') return { rank: 2, seen: 'OAuth', credential: PASSTHROUGH };
  if (kind === 'basic' || type === 'basic') {
    const likely = { ...AUTHORIZATION, format: 'Basic {token}' };
    return { rank: 0, seen: 'a user name and password (Basic)', credential: undefined, likely };
  }
  if (type !== 'apikey' || place !== 'header' || /^cookie$/i.test(textOf(scheme['name']))) {
    return { rank: 0, seen: `${type} ${place || kind}`.trim(), credential: undefined };
  }
  const name = textOf(scheme['name']);
  if (!requestHeaderName.safeParse(name).success) return { rank: 0, seen: 'no usable header', credential: undefined };
  const seen = `the header ${name}`;
  if (name.toLowerCase() !== 'authorization') return { rank: 3, seen, credential: { kind: 'header', name } };
  const [, first, second] = PREFIX.exec(textOf(scheme['description']).slice(0, 1000)) ?? [];
  const word = first ?? second ?? (/bearer/i.test(called) ? 'Bearer' : undefined);
  if (word === undefined) {
    const likely = { ...AUTHORIZATION, format: '{token}' };
    return { rank: 1, seen: `${seen}; what precedes the token is not said`, credential: undefined, likely };
  }
  if (word === 'Bearer') return { rank: 3, seen, credential: PASSTHROUGH };
  return { rank: 3, seen: `${seen}, with ${word}`, credential: { kind: 'header', name, format: `${word} {token}` } };
}
