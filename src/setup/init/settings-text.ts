import type { Description } from '../describe/listing.ts';
import type { FieldGuess } from '../guess/guess-fields.ts';
import { wordsOf } from '../guess/vocabulary.ts';
import { type BaseUrl, createVariables, UPSTREAM, type Variables } from './base-url.ts';
import { hasRival, type Proposal, type ResourceProposal } from './proposal.ts';
import { block, comment, entry, oneLine, referring, sentence } from './yaml-text.ts';

/** Names of query parameters that carry a credential, which settings refuse. */
const CREDENTIAL = /key|token|secret|auth|bearer|jwt|passw|pwd|^sig/i;

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

/** Writes the settings of one resource with a comment on each guess. */
function resourceBlock(proposal: ResourceProposal, variables: Variables) {
  const { resource, found, others } = proposal;
  const { name } = resource;
  const paths = others.map(({ listing }) => oneLine(listing.path)).join(', ');
  const alternatives = paths === '' ? [] : [`Other candidates: ${paths}.`];
  if (found === undefined) {
    const lines = [...comment('No list fits, so the resource is disabled.', ...alternatives), 'enabled: false'];
    return { name, lines, isOffered: false, doubts: ['which list it is: none fits, so the resource is disabled'] };
  }
  const { listing, fields, paging } = found;
  const title = listing.title === '' ? '' : `: "${oneLine(listing.title)}"`;
  const required = listing.parameters.filter((each) => each.required);
  const secret = required.find((each) => CREDENTIAL.test(each.name));
  const doubts = [
    ...doubtsOf(proposal, found),
    ...(secret === undefined
      ? []
      : ['how the platform takes the token: it requires one in the query, where Portico sends none']),
  ];
  const { path, pathParams } = pathOf(listing.path, variables);
  const taken = new Set<unknown>(Object.values(paging.pagination));
  const needed = required.filter((each) => !taken.has(each.name) && !CREDENTIAL.test(each.name));
  return {
    name,
    isOffered: !paging.isUnsafe,
    doubts,
    lines: [
      ...comment(`GET ${oneLine(listing.path)}${title}.`, ...alternatives, ...doubts.map((each) => `Check ${each}.`)),
      ...(paging.isUnsafe ? ['enabled: false'] : []),
      entry('upstream', UPSTREAM),
      entry('path', path),
      ...(pathParams.size > 0 ? block('pathParams', [...pathParams.values()]) : []),
      ...block(
        'query',
        needed.map((each) =>
          entry(each.name, each.value ?? variables.reference(`query parameter ${each.name}`, each.name)),
        ),
      ),
      entry('items', listing.items),
      ...comment(sentence(paging.why)),
      entry('pagination', paging.pagination),
      ...block('fields', fieldLines(fields)),
    ],
  };
}

function doubtsOf(
  proposal: ResourceProposal,
  { listing, fields, paging }: NonNullable<ResourceProposal['found']>,
): string[] {
  const doubtful = [...fields].filter(([, { inDoubt }]) => inDoubt);
  return [
    ...(hasRival(proposal) ? ['whether it is this list or another candidate'] : []),
    ...paging.doubts.map((doubt) => (paging.isUnsafe ? `${doubt}; until then the resource is disabled` : doubt)),
    ...(listing.itemsInDoubt ? [`whether the items are at ${oneLine(listing.items)}`] : []),
    ...doubtful.map(([field, { from = '' }]) => `whether ${field} is ${oneLine(from)}`),
  ];
}

/** Returns the path, and entries with a reference to the environment for each `{name}` in it. */
function pathOf(path: string, variables: Variables) {
  const pathParams = new Map<string, string>();
  const written = path.replace(/\{([^{}]*)\}/g, (_, name: string, index: number) => {
    const key = name.replace(/\W/g, '_');
    if (!pathParams.has(key)) {
      const before = path.slice(0, index);
      // The segment before an id names what it identifies: `projects/{id}`.
      const of = /^(?:id|uuid|key|slug|name)$/i.test(name) ? wordsOf(before.split('/').at(-2) ?? '') : [];
      const other = [...wordsOf(before), name].join('_');
      const value = variables.reference(`${name} in ${before}{${name}}`, [...of, name].join('_'), other);
      pathParams.set(key, entry(key, value));
    }
    return `{${key}}`;
  });
  return { path: written, pathParams };
}

function fieldLines(fields: ReadonlyMap<string, FieldGuess>): string[] {
  const missing: string[] = [];
  const lines = [...fields].flatMap(([key, { from, instead, values, why }]) => {
    const text = from ?? instead;
    if (text === undefined) {
      missing.push(...comment(`${key}: ${why}.`));
      return [];
    }
    if (Object.keys(values).length === 0) return [entry(key, text, why)];
    return block(key, [entry('from', text, why), entry('values', values)]);
  });
  return [...lines, ...missing];
}
