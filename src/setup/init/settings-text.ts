import { requestHeaderName } from '../../core/config/schema/scalars.ts';
import type { Description, Listing } from '../describe/listing.ts';
import type { Credential } from '../guess/guess-credential.ts';
import { type BaseUrl, createVariables, type Variables } from './base-url.ts';
import type { Proposal } from './proposal.ts';
import { resourceBlock } from './resource-block.ts';
import { block, comment, entry, oneLine, referring, sentence } from './yaml-text.ts';

/** A settings file, and what it leaves to a person. */
export interface SettingsText {
  readonly text: string;
  /** Environment variables that it needs, each with its meaning. */
  readonly variables: ReadonlyMap<string, string>;
  readonly offered: readonly string[];
  /** What a person should check, in words that follow "check". */
  readonly doubts: readonly string[];
}

/** Writes a proposal as a settings file with a comment on each guess. `source` names what it was made from. */
export function writeSettings(
  { title, external }: Pick<Description, 'title' | 'external'>,
  proposal: Proposal,
  place: BaseUrl,
  source: string,
): SettingsText {
  const variables = createVariables(place);
  const resources = proposal.resources.map((each) => resourceBlock(each, place.name, variables));
  const upstream = upstreamBlock(proposal, place, variables);
  const doubts = [
    ...proposal.credential.doubts.map((doubt) => `upstream ${place.name}: ${doubt}`),
    ...resources.flatMap((each) => each.doubts.map((doubt) => `${each.name}: ${doubt}`)),
  ];
  const lines = [
    '# yaml-language-server: $schema=./portico.schema.json',
    '#',
    ...comment(`${oneLine(title) || place.name}: proposed by portico init from ${oneLine(source)}.`),
    ...(external > 0 ? comment('The document refers to other documents, which were not read.') : []),
    ...(doubts.length > 0 ? ['#', '# Check:', ...comment(...doubts.map((each) => `- ${each}`))] : []),
    ...(variables.all.size > 0 ? ['#', '# Environment:'] : []),
    ...[...variables.all].map(([name, what]) => `#   ${name}  ${what}`),
    '',
    ...block('upstreams', block(place.name, upstream)),
    ...block(
      'resources',
      resources.flatMap(({ name, lines }) => block(name, lines)),
    ),
  ];
  const offered = resources.flatMap(({ name, isOffered }) => (isOffered ? [name] : []));
  return { text: `${lines.join('\n')}\n`, variables: variables.all, offered, doubts };
}

function upstreamBlock({ credential, resources }: Proposal, place: BaseUrl, variables: Variables): string[] {
  const listings = resources.flatMap(({ found }) => found?.listing ?? []);
  const headers = [...acceptOf(listings), ...requiredHeaders(listings, credential.credential, variables)];
  return [
    entry('baseUrl', referring(place.baseUrl, false)),
    ...comment(sentence(credential.why), ...credential.doubts.map((doubt) => `Check ${doubt}.`)),
    entry('credential', credential.credential),
    ...(headers.length > 0 ? block('headers', headers) : []),
  ];
}

function acceptOf(listings: readonly Listing[]): string[] {
  const types = new Set(listings.map(({ mediaType }) => mediaType).filter((type) => type !== ''));
  return types.size > 0 ? [entry('Accept', [...types, 'application/json'].join(', '))] : [];
}

/** Returns the headers that the platform requires, except the one with the credential. */
function requiredHeaders(listings: readonly Listing[], credential: Credential, variables: Variables): string[] {
  const set = new Set(['authorization', 'accept']);
  if (credential.kind === 'header') set.add(credential.name.toLowerCase());
  const required = listings.flatMap(({ parameters }) => parameters.filter((each) => each.in === 'header'));
  return required.flatMap(({ name, value, required }) => {
    const key = name.toLowerCase();
    if (!required || !requestHeaderName.safeParse(name).success || set.has(key)) return [];
    set.add(key);
    return [entry(name, value ?? variables.reference(`header ${name}`, name))];
  });
}
