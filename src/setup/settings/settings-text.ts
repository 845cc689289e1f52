import type { Listing } from '../description/listing.ts';
import { NOT_SENT } from '../guesses/credential.ts';
import type { FieldProposal } from '../guesses/fields.ts';
import { wordsOf } from '../guesses/words.ts';
import { isInDoubt, type Proposal, type ResourceProposal } from '../proposal.ts';
import { type Place, variableOf } from './place.ts';
import { comment, flow, key, oneLine, referring, scalar } from './yaml-text.ts';

/** A settings file, and what it leaves to a person. */
export interface SettingsText {
  readonly text: string;
  /** Environment variables that it needs, each with what it is. */
  readonly variables: ReadonlyMap<string, string>;
  /** Resources that it offers, by name. */
  readonly offered: readonly string[];
  /** What could not be decided, in sentences. */
  readonly doubts: readonly string[];
}

/** Writes a proposal down as a settings file, each setting with why it is so; `source` says what it was made from. */
export function writeSettings(proposal: Proposal, place: Place, source: string): SettingsText {
  const variables = new Map<string, string>();
  const doubts: string[] = [];
  const offered: string[] = [];
  if (place.variable !== undefined) variables.set(place.variable, 'the server, such as https://platform.example.com');
  const blocks = proposal.resources.map((each) => {
    const block = resourceBlock(each, place, variables);
    if (block.offered) offered.push(each.resource.name);
    doubts.push(...block.doubts.map((doubt) => `${each.resource.name}: ${doubt}`));
    return block.lines;
  });
  const upstream = upstreamBlock(proposal, place, variables);
  doubts.unshift(...proposal.credential.doubts.map((doubt) => `upstream ${place.name}: ${doubt}`));
  const lines = [
    '# yaml-language-server: $schema=./portico.schema.json',
    '#',
    ...comment(`${oneLine(proposal.title) || place.name}: proposed by portico init from ${oneLine(source)}.`),
    ...comment(
      proposal.external > 0
        ? 'The document refers to others, which were not read: what stands there only is not in here.'
        : '',
    ),
    ...(doubts.length > 0
      ? ['#', '# To be looked at by a person:', ...doubts.flatMap((each) => comment(`- ${each}`))]
      : []),
    ...(variables.size > 0 ? ['#', '# Environment:'] : []),
    ...[...variables].map(([name, what]) => `#   ${name}  ${oneLine(what)}`),
    '',
    ...upstream,
    '',
    'resources:',
    ...blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block])),
  ];
  return { text: `${lines.join('\n')}\n`, variables, offered, doubts };
}

type Variables = Map<string, string>;

function upstreamBlock({ credential, resources }: Proposal, place: Place, variables: Variables): string[] {
  const listings = resources.flatMap(({ found }) => (found === undefined ? [] : [found.listing]));
  const headers = new Map<string, string>();
  const types = new Set(listings.map(({ mediaType }) => mediaType).filter((type) => type !== ''));
  if (types.size > 0) headers.set('Accept', scalar([...types, 'application/json'].join(', ')));
  const own = /^(?:authorization|accept)$/i;
  const seen = new Set<string>();
  const taken = credential.credential.kind === 'header' ? credential.credential.name.toLowerCase() : '';
  for (const { name, value } of listings.flatMap(requiredHeaders)) {
    const isOwn = own.test(name) || NOT_SENT.test(name) || [taken, ...seen].includes(name.toLowerCase());
    if (!/^[\w-]+$/.test(name) || isOwn) continue;
    seen.add(name.toLowerCase());
    headers.set(name, value === undefined ? reference(variables, place, name, `header ${name}`) : scalar(value));
  }
  return [
    'upstreams:',
    `  ${place.name}:`,
    `    baseUrl: ${referring(place.baseUrl)}`,
    ...comment(sentence(oneLine(credential.why)), '    '),
    ...credential.doubts.map((doubt) => undecided(doubt)).flatMap((doubt) => comment(doubt, '    ')),
    `    credential: ${flow(credential.credential)}`,
    ...(headers.size > 0 ? ['    headers:', ...[...headers].map(([name, value]) => `      ${name}: ${value}`)] : []),
  ];
}

function requiredHeaders({ parameters }: Listing) {
  return parameters.filter((parameter) => parameter.in === 'header' && parameter.required);
}

/** A scalar that takes its value from the environment, in quotes, so that it stays text. */
function reference(variables: Variables, place: Place, name: string, what: string): string {
  const variable = variableOf(place.name, name);
  variables.set(variable, oneLine(what));
  return `"\${${variable}}"`;
}

/** A sentence of its own: of what comes first, only a letter of ours is made a capital. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function undecided(doubt: string): string {
  return `Look at this: ${doubt}.`;
}

interface Block {
  readonly lines: string[];
  readonly offered: boolean;
  readonly doubts: readonly string[];
}

function resourceBlock(proposal: ResourceProposal, place: Place, variables: Variables): Block {
  const { resource, found, paging, others } = proposal;
  const alternatives = others.map(({ listing }) => oneLine(listing.path)).join(', ');
  if (found === undefined || paging === undefined) {
    const doubt = 'no list seems to be it, so it is switched off';
    const near = others.length === 0 ? [] : comment(`Passed over: ${alternatives}.`, '    ');
    const lines = [`  ${resource.name}:`, ...comment(sentence(doubt), '    '), ...near, '    enabled: false'];
    return { lines, offered: false, doubts: [doubt] };
  }
  const { listing, fields } = found;
  const doubts = [...paging.doubts];
  if (isInDoubt(proposal)) doubts.unshift('whether it is this list, or one of those passed over');
  if (listing.deprecated) doubts.push('what came after this list, which the platform calls deprecated');
  if (listing.itemsInDoubt) doubts.push(`that the items stand at ${oneLine(listing.items)}`);
  for (const [field, { inDoubt, from }] of fields) if (inDoubt) doubts.push(`that ${field} is ${oneLine(from ?? '')}`);
  const isDecided = paging.pagination !== undefined;
  if (!isDecided) doubts.push('until that is known, the resource is switched off');
  const pagination = paging.pagination ?? paging.likely ?? { kind: 'link', sizeParam: null };
  const paged = new Set<unknown>(Object.values(pagination));
  const { path, pathParams } = pathOf(listing, place, variables);
  const query = queryOf(listing, paged, paging.query ?? {}, place, variables);
  if (listing.parameters.some((each) => each.in === 'query' && each.required && CREDENTIAL.test(each.name))) {
    doubts.push('how the platform is given the token: it wants one in the query, where Portico sends none');
  }
  const title = oneLine(listing.title);
  const lines = [
    `  ${resource.name}:`,
    ...comment(`GET ${oneLine(listing.path)}${title === '' ? '' : `: "${title}"`}.`, '    '),
    ...(alternatives === '' ? [] : comment(`Passed over: ${alternatives}.`, '    ')),
    ...doubts.flatMap((doubt) => comment(undecided(doubt), '    ')),
    ...(isDecided ? [] : ['    enabled: false']),
    `    upstream: ${place.name}`,
    `    path: ${referring(path)}`,
    ...(pathParams.size > 0
      ? ['    pathParams:', ...[...pathParams].map(([each, value]) => `      ${each}: ${value}`)]
      : []),
    ...(query.length === 0 ? ['    query: {}'] : ['    query:', ...query]),
    `    items: ${scalar(listing.items)}`,
    ...comment(sentence(paging.why), '    '),
    `    pagination: ${flow(pagination)}`,
    '    fields:',
    ...[...fields].flatMap(([field, each]) => fieldLines(field, each)),
  ];
  return { lines, offered: isDecided, doubts };
}

interface WrittenPath {
  readonly path: string;
  /** What stands for each `{name}` in it, as YAML. */
  readonly pathParams: ReadonlyMap<string, string>;
}

/** The path, with a reference to the environment for each `{name}` in it. */
function pathOf({ path }: Listing, place: Place, variables: Variables): WrittenPath {
  const pathParams = new Map<string, string>();
  const written = path.replace(/\{([^{}]*)\}/g, (_, name: string, index: number) => {
    const setting = name.replace(/\W/g, '_');
    if (!pathParams.has(setting)) {
      const variable = variableIn(path.slice(0, index), name, place, variables);
      pathParams.set(setting, `"\${${variable}}"`);
    }
    return `{${setting}}`;
  });
  return { path: written, pathParams };
}

/** The variable that says what stands behind `before` in a path. */
function variableIn(before: string, name: string, place: Place, variables: Variables): string {
  // The id of what? The segment ahead tells: `projects/{id}`.
  const of = /^(?:id|uuid|key|slug|name)$/i.test(name) ? wordsOf(before.split('/').at(-2) ?? '') : [];
  const what = `${name} in ${before}{${name}}`;
  const usual = variableOf(place.name, ...of, name);
  // The same name at another place is another value.
  const variable = (variables.get(usual) ?? what) === what ? usual : variableOf(place.name, ...wordsOf(before), name);
  variables.set(variable, what);
  return variable;
}

/** Query parameters that carry a credential by their name: settings refuse them. */
const CREDENTIAL = /key|token|secret|auth|bearer|jwt|passw|pwd|^sig/i;

/** Query parameters without which the platform refuses the request, but for those that page and those that let in. */
function queryOf(
  { parameters }: Listing,
  paged: ReadonlySet<unknown>,
  asked: Readonly<Record<string, string>>,
  place: Place,
  variables: Variables,
): string[] {
  const requests = Object.entries(asked).map(([name, value]) => {
    return `      ${key(name)}: ${scalar(value)} # without it the platform sends no total`;
  });
  const required = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required && !paged.has(parameter.name))
    .filter(({ name }) => !CREDENTIAL.test(name) && !Object.hasOwn(asked, name))
    .map(({ name, value }) => {
      const text = value === undefined ? reference(variables, place, name, `query parameter ${name}`) : scalar(value);
      return `      ${key(name)}: ${text}`;
    });
  return [...requests, ...required];
}

function fieldLines(field: string, { from, instead, values, why }: FieldProposal): string[] {
  if (from === undefined && instead === undefined) return comment(`${field}: ${oneLine(why)}.`, INDENT);
  const because = ` # ${oneLine(why)}`;
  const value = scalar(from ?? instead ?? '');
  if (Object.keys(values).length === 0) return [`${INDENT}${field}: ${value}${because}`];
  const table = flow(values);
  const inOneLine = table.length < 90;
  const rows = Object.entries(values).map(([name, word]) => `${INDENT}    ${key(name)}: ${scalar(word)}`);
  return [
    `${INDENT}${field}:`,
    `${INDENT}  from: ${value}${because}`,
    ...(inOneLine ? [`${INDENT}  values: ${table}`] : [`${INDENT}  values:`, ...rows]),
  ];
}

const INDENT = ' '.repeat(6);
