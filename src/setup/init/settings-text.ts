import type { Description } from '../describe/listing.ts';
import { type BaseUrl, createVariables, UPSTREAM } from './base-url.ts';
import type { Proposal } from './proposal.ts';
import { resourceBlock } from './resource-block.ts';
import { block, comment, entry, oneLine, referring, sentence } from './yaml-text.ts';

export type SettingsText = ReturnType<typeof writeSettings>;

/** Writes a proposal as a settings file with a comment on each guess. `source` names what it was made from. `doubts` follow the word "check". */
export function writeSettings(
  { title }: Pick<Description, 'title'>,
  proposal: Proposal,
  place: BaseUrl,
  source: string,
) {
  const variables = createVariables(place);
  const resources = proposal.resources.map((each) => resourceBlock(each, variables));
  const upstream = upstreamBlock(proposal, place);
  const doubts = [
    ...proposal.credential.doubts.map((doubt) => `upstream ${UPSTREAM}: ${doubt}`),
    ...resources.flatMap((each) => each.doubts.map((doubt) => `${each.name}: ${doubt}`)),
  ];
  const lines = [
    '# yaml-language-server: $schema=./portico.schema.json',
    '#',
    ...comment(`${oneLine(title) || 'Settings'}: proposed by portico init from ${oneLine(source)}.`),
    ...(doubts.length > 0 ? ['#', '# Check:', ...comment(...doubts.map((each) => `- ${each}`))] : []),
    ...(variables.all.size > 0 ? ['#', '# Environment:'] : []),
    ...[...variables.all].map(([name, what]) => `#   ${name}  ${what}`),
    '',
    ...block('upstreams', block(UPSTREAM, upstream)),
    ...block(
      'resources',
      resources.flatMap(({ name, lines }) => block(name, lines)),
    ),
  ];
  const offered = resources.flatMap(({ name, isOffered }) => (isOffered ? [name] : []));
  return { text: `${lines.join('\n')}\n`, variables: variables.all, offered, doubts };
}

function upstreamBlock({ credential }: Proposal, place: BaseUrl): string[] {
  return [
    entry('baseUrl', referring(place.baseUrl, false)),
    ...comment(sentence(credential.why), ...credential.doubts.map((doubt) => `Check ${doubt}.`)),
    entry('credential', credential.credential),
  ];
}
