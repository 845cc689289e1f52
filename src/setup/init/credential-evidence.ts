import { requestHeaderName } from '../../core/config/schema/scalars.ts';
import type { Json } from '../../core/kernel/json-shape.ts';
import type { Api, DocumentedOperation } from './openapi-document.ts';
import { textOf } from './shape.ts';

type Credential = Readonly<Record<string, string>>;

export interface CredentialEvidence {
  readonly seen: string;
  /** The setting `credential`; `undefined` where the document leaves it open. */
  readonly credential: Credential | undefined;
  /** What it may be then. */
  readonly likely?: Credential | undefined;
}

/** Reads which header takes the token, where all of these operations agree. */
export function readCredential(
  { securitySchemes }: Api,
  operations: readonly DocumentedOperation[],
): CredentialEvidence {
  const ways = operations.flatMap(({ security }) => security).filter((names) => names.length > 0);
  const alone = new Set(ways.filter((names) => names.length === 1).flat());
  const [together] = ways;
  if (alone.size === 0 && together !== undefined) {
    return { seen: `the document requires ${together.join(' and ')} together`, credential: undefined };
  }
  const names = alone.size > 0 ? [...alone] : [...securitySchemes.keys()];
  const readings = names.flatMap((name) => {
    const scheme = securitySchemes.get(name);
    return scheme === undefined ? [] : [{ name, ...readScheme(scheme) }];
  });
  const best = readings.find(({ credential }) => credential !== undefined) ?? readings[0];
  if (best === undefined) return { seen: 'the document names no security scheme', credential: undefined };
  return { ...best, seen: readings.map(({ name, seen }) => `security scheme ${name}: ${seen}`).join('; or ') };
}

function readScheme(scheme: Json): CredentialEvidence {
  const [type, kind, place] = ['type', 'scheme', 'in'].map((key) => textOf(scheme[key]).toLowerCase());
  const name = textOf(scheme['name']);
  if ((type === 'http' && kind === 'bearer') || type === 'oauth2' || type === 'openidconnect') {
    return { seen: type === 'http' ? 'a bearer token' : 'OAuth', credential: { kind: 'passthrough' } };
  }
  if (kind === 'basic' || type === 'basic') {
    const likely = { kind: 'header', name: 'Authorization', format: 'Basic {token}' };
    return { seen: 'a user name and password (Basic)', credential: undefined, likely };
  }
  const isHeader = type === 'apikey' && place === 'header' && requestHeaderName.safeParse(name).success;
  if (!isHeader || /^cookie$/i.test(name)) return { seen: `${type} ${place || kind}`.trim(), credential: undefined };
  if (name.toLowerCase() !== 'authorization')
    return { seen: `the header ${name}`, credential: { kind: 'header', name } };
  // What precedes the token is for a person to read.
  const said = textOf(scheme['description']).slice(0, 120);
  const seen = `the header ${name}${said && `, with what its description says: "${said}"`}`;
  return { seen, credential: undefined, likely: { kind: 'header', name, format: '{token}' } };
}
