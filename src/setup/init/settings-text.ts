import type { Description, Listing } from '../describe/listing.ts';
import { NOT_SENT } from '../guess/guess-credential.ts';
import type { BaseUrl } from './base-url.ts';
import type { Proposal } from './proposal.ts';
import { createVariables, resourceBlock, sentence, type Variables } from './resource-block.ts';
import { comment, flow, oneLine, referring, scalar } from './yaml-text.ts';

/** A settings file, and what it leaves to a person. */
export interface SettingsText {
  readonly text: string;
  /** Environment variables that it needs, each with its meaning. */
  readonly variables: ReadonlyMap<string, string>;
  /** Names of the resources that it offers. */
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
  const blocks = proposal.resources.map((each) => ({
    name: each.resource.name,
    ...resourceBlock(each, place.name, variables),
  }));
  const upstream = upstreamBlock(proposal, place, variables);
  const doubts = [
    ...proposal.credential.doubts.map((doubt) => `upstream ${place.name}: ${doubt}`),
    ...blocks.flatMap((block) => block.doubts.map((doubt) => `${block.name}: ${doubt}`)),
  ];
  const lines = [
    '# yaml-language-server: $schema=./portico.schema.json',
    '#',
    ...comment(`${oneLine(title) || place.name}: proposed by portico init from ${oneLine(source)}.`),
    ...comment(external > 0 ? 'The document refers to other documents, which were not read.' : ''),
    ...(doubts.length > 0 ? ['#', '# Check:', ...doubts.flatMap((each) => comment(`- ${each}`))] : []),
    ...(variables.all.size > 0 ? ['#', '# Environment:'] : []),
    ...[...variables.all].map(([name, what]) => `#   ${name}  ${what}`),
    '',
    ...upstream,
    '',
    'resources:',
    ...blocks.flatMap(({ lines }, index) => (index === 0 ? lines : ['', ...lines])),
  ];
  const offered = blocks.flatMap(({ name, isOffered }) => (isOffered ? [name] : []));
  return { text: `${lines.join('\n')}\n`, variables: variables.all, offered, doubts };
}

function upstreamBlock({ credential, resources }: Proposal, place: BaseUrl, variables: Variables): string[] {
  const listings = resources.flatMap(({ found }) => found?.listing ?? []);
  const types = new Set(listings.map(({ mediaType }) => mediaType).filter((type) => type !== ''));
  const headers = new Map<string, string>();
  if (types.size > 0) headers.set('Accept', scalar([...types, 'application/json'].join(', ')));
  const own = credential.credential.kind === 'header' ? credential.credential.name.toLowerCase() : '';
  const set = new Set(['authorization', 'accept', own]);
  for (const { name, value } of listings.flatMap(requiredHeaders)) {
    if (!/^[\w-]+$/.test(name) || NOT_SENT.test(name) || set.has(name.toLowerCase())) continue;
    set.add(name.toLowerCase());
    headers.set(name, value === undefined ? variables.reference(`header ${name}`, name) : scalar(value));
  }
  return [
    'upstreams:',
    `  ${place.name}:`,
    `    baseUrl: ${referring(place.baseUrl)}`,
    ...comment(sentence(oneLine(credential.why)), '    '),
    ...credential.doubts.flatMap((doubt) => comment(`Check ${doubt}.`, '    ')),
    `    credential: ${flow(credential.credential)}`,
    ...(headers.size > 0 ? ['    headers:', ...[...headers].map(([name, value]) => `      ${name}: ${value}`)] : []),
  ];
}

function requiredHeaders({ parameters }: Listing) {
  return parameters.filter((parameter) => parameter.in === 'header' && parameter.required);
}
