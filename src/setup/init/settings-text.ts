import { Document, type YAMLMap } from 'yaml';
import type { Description } from '../describe/listing.ts';
import { NOT_SENT } from '../guess/guess-credential.ts';
import type { BaseUrl } from './base-url.ts';
import type { Proposal } from './proposal.ts';
import { createVariables, resourceBlock, sentence, type Variables } from './resource-block.ts';
import { commentLines, type Entry, oneLine, plainText, yamlBlock } from './yaml-text.ts';

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
  const blocks = proposal.resources.map((each) => {
    return { name: each.resource.name, ...resourceBlock(each, place.name, variables) };
  });
  const upstreams = yamlBlock([{ key: place.name, value: upstreamBlock(proposal, place, variables) }]);
  const resources = yamlBlock(blocks.map(({ name, block }) => ({ key: name, value: block })));
  const doubts = [
    ...proposal.credential.doubts.map((doubt) => `upstream ${place.name}: ${doubt}`),
    ...blocks.flatMap((block) => block.doubts.map((doubt) => `${block.name}: ${doubt}`)),
  ];
  const document = new Document(
    yamlBlock([
      { key: 'upstreams', value: upstreams },
      { key: 'resources', value: resources },
    ]),
  );
  document.commentBefore = [
    ' yaml-language-server: $schema=./portico.schema.json',
    '',
    ...commentLines(`${oneLine(title) || place.name}: proposed by portico init from ${oneLine(source)}.`),
    ...(external > 0 ? commentLines('The document refers to other documents, which were not read.') : []),
    ...(doubts.length > 0 ? ['', ' Check:', ...doubts.flatMap((each) => commentLines(`- ${each}`))] : []),
    ...(variables.all.size > 0 ? ['', ' Environment:'] : []),
    ...[...variables.all].map(([name, what]) => `   ${name}  ${what}`),
  ].join('\n');
  const offered = blocks.flatMap(({ name, isOffered }) => (isOffered ? [name] : []));
  return { text: document.toString({ lineWidth: 0 }), variables: variables.all, offered, doubts };
}

function upstreamBlock({ credential, resources }: Proposal, place: BaseUrl, variables: Variables): YAMLMap {
  const listings = resources.flatMap(({ found }) => found?.listing ?? []);
  const types = new Set(listings.map(({ mediaType }) => mediaType).filter((type) => type !== ''));
  const headers: Entry[] = types.size > 0 ? [{ key: 'Accept', value: [...types, 'application/json'].join(', ') }] : [];
  const own = credential.credential.kind === 'header' ? credential.credential.name.toLowerCase() : '';
  const set = new Set(['authorization', 'accept', own]);
  const required = listings.flatMap(({ parameters }) =>
    parameters.filter((each) => each.in === 'header' && each.required),
  );
  for (const { name, value } of required) {
    if (!/^[\w-]+$/.test(name) || NOT_SENT.test(name) || set.has(name.toLowerCase())) continue;
    set.add(name.toLowerCase());
    headers.push({ key: name, value: value ?? variables.reference(`header ${name}`, name) });
  }
  const doubts = credential.doubts.map((doubt) => `Check ${doubt}.`);
  return yamlBlock([
    { key: 'baseUrl', value: plainText(place.baseUrl) },
    { key: 'credential', value: credential.credential, before: [sentence(oneLine(credential.why)), ...doubts] },
    ...(headers.length > 0 ? [{ key: 'headers', value: yamlBlock(headers) }] : []),
  ]);
}
