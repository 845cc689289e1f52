import type { Listing } from '../describe/listing.ts';
import type { FieldGuess } from '../guess/guess-fields.ts';
import { wordsOf } from '../guess/vocabulary.ts';
import { type BaseUrl, variableOf } from './base-url.ts';
import { hasRival, type ResourceProposal } from './proposal.ts';
import { comment, flow, key, oneLine, referring, scalar } from './yaml-text.ts';

/** Environment variables that a settings file needs. */
export interface Variables {
  /** Meaning by name. */
  readonly all: ReadonlyMap<string, string>;
  /** Adds a variable and returns a reference to it as a quoted scalar. `other` names it if `name` has another meaning. */
  reference(meaning: string, ...names: readonly [name: string, other?: string]): string;
}

export function createVariables({ name: upstream, variable }: BaseUrl): Variables {
  const all = new Map<string, string>();
  if (variable !== undefined) all.set(variable, 'the server, such as https://platform.example.com');
  return {
    all,
    reference(meaning, name, other = name) {
      const what = oneLine(meaning);
      const usual = variableOf(upstream, name);
      const chosen = (all.get(usual) ?? what) === what ? usual : variableOf(upstream, other);
      all.set(chosen, what);
      return `"\${${chosen}}"`;
    },
  };
}

/** Returns a text as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

interface Block {
  readonly lines: string[];
  readonly isOffered: boolean;
  readonly doubts: readonly string[];
}

const INDENT = '    ';

/** Writes the settings of one resource with a comment on each guess. */
export function resourceBlock(proposal: ResourceProposal, upstream: string, variables: Variables): Block {
  const { resource, found, others } = proposal;
  const paths = others.map(({ listing }) => oneLine(listing.path)).join(', ');
  const alternatives = paths === '' ? [] : comment(`Other candidates: ${paths}.`, INDENT);
  if (found === undefined) {
    const lines = [`  ${resource.name}:`, ...comment('No list fits, so the resource is disabled.', INDENT)];
    return {
      lines: [...lines, ...alternatives, `${INDENT}enabled: false`],
      isOffered: false,
      doubts: ['which list it is: none fits, so the resource is disabled'],
    };
  }
  const { listing, fields, paging } = found;
  const isOffered = paging.pagination !== undefined;
  const pagination = paging.pagination ?? paging.likely ?? { kind: 'link', sizeParam: null };
  const doubts = doubtsOf(proposal);
  const title = oneLine(listing.title);
  const { path, pathParams } = pathOf(listing, variables);
  const query = queryOf(listing, { pagination, query: paging.query ?? {} }, variables);
  const lines = [
    `  ${resource.name}:`,
    ...comment(`GET ${oneLine(listing.path)}${title === '' ? '' : `: "${title}"`}.`, INDENT),
    ...alternatives,
    ...doubts.flatMap((doubt) => comment(`Check ${doubt}.`, INDENT)),
    ...(isOffered ? [] : [`${INDENT}enabled: false`]),
    `${INDENT}upstream: ${upstream}`,
    `${INDENT}path: ${referring(path)}`,
    ...(pathParams.size > 0 ? [`${INDENT}pathParams:`] : []),
    ...[...pathParams].map(([name, value]) => `${INDENT}  ${name}: ${value}`),
    ...(query.length === 0 ? [`${INDENT}query: {}`] : [`${INDENT}query:`, ...query]),
    `${INDENT}items: ${scalar(listing.items)}`,
    ...comment(sentence(oneLine(paging.why)), INDENT),
    `${INDENT}pagination: ${flow(pagination)}`,
    `${INDENT}fields:`,
    ...[...fields].flatMap(([field, each]) => fieldLines(field, each)),
  ];
  return { lines, isOffered, doubts };
}

function doubtsOf(proposal: ResourceProposal): string[] {
  const { found } = proposal;
  if (found === undefined) return [];
  const { listing, fields, paging } = found;
  const fieldDoubts = [...fields].flatMap(([field, { inDoubt, from = '' }]) => {
    return inDoubt ? [`whether ${field} is ${oneLine(from)}`] : [];
  });
  const hasCredential = listing.parameters.some((each) => isRequiredQuery(each) && CREDENTIAL.test(each.name));
  return [
    ...(hasRival(proposal) ? ['whether it is this list or another candidate'] : []),
    ...paging.doubts.map((doubt) =>
      paging.pagination === undefined ? `${doubt}; until then the resource is disabled` : doubt,
    ),
    ...(listing.deprecated ? ['what replaces this list, which the platform calls deprecated'] : []),
    ...(listing.itemsInDoubt ? [`whether the items are at ${oneLine(listing.items)}`] : []),
    ...fieldDoubts,
    ...(hasCredential
      ? ['how the platform takes the token: it requires one in the query, where Portico sends none']
      : []),
  ];
}

/** Returns the path, and a reference to the environment for each `{name}` in it. */
function pathOf({ path }: Listing, variables: Variables) {
  const pathParams = new Map<string, string>();
  const written = path.replace(/\{([^{}]*)\}/g, (_, name: string, index: number) => {
    const setting = name.replace(/\W/g, '_');
    if (!pathParams.has(setting)) {
      const before = path.slice(0, index);
      // The segment before an id names what it identifies: `projects/{id}`.
      const of = /^(?:id|uuid|key|slug|name)$/i.test(name) ? wordsOf(before.split('/').at(-2) ?? '') : [];
      const names = [[...of, name].join('_'), [...wordsOf(before), name].join('_')] as const;
      pathParams.set(setting, variables.reference(`${name} in ${before}{${name}}`, ...names));
    }
    return `{${setting}}`;
  });
  return { path: written, pathParams };
}

/** Names of query parameters that carry a credential, which settings refuse. */
const CREDENTIAL = /key|token|secret|auth|bearer|jwt|passw|pwd|^sig/i;

function isRequiredQuery(parameter: Listing['parameters'][number]): boolean {
  return parameter.in === 'query' && parameter.required;
}

/** Returns the query parameters that the platform requires, except those of paging and credentials. */
function queryOf(
  { parameters }: Listing,
  { pagination, query }: { readonly pagination: object; readonly query: Readonly<Record<string, string>> },
  variables: Variables,
): string[] {
  const paged = new Set<unknown>(Object.values(pagination));
  const requests = Object.entries(query).map(([name, value]) => {
    return `${INDENT}  ${key(name)}: ${scalar(value)} # without it the platform sends no total`;
  });
  const required = parameters
    .filter((each) => isRequiredQuery(each) && !paged.has(each.name) && !CREDENTIAL.test(each.name))
    .filter(({ name }) => !Object.hasOwn(query, name))
    .map(({ name, value }) => {
      const text = value === undefined ? variables.reference(`query parameter ${name}`, name) : scalar(value);
      return `${INDENT}  ${key(name)}: ${text}`;
    });
  return [...requests, ...required];
}

function fieldLines(field: string, { from, instead, values, why }: FieldGuess): string[] {
  const indent = `${INDENT}  `;
  if (from === undefined && instead === undefined) return comment(`${field}: ${oneLine(why)}.`, indent);
  const because = ` # ${oneLine(why)}`;
  const value = scalar(from ?? instead ?? '');
  if (Object.keys(values).length === 0) return [`${indent}${field}: ${value}${because}`];
  const table = flow(values);
  const rows = Object.entries(values).map(([name, word]) => `${indent}    ${key(name)}: ${scalar(word)}`);
  const written = table.length < 90 ? [`${indent}  values: ${table}`] : [`${indent}  values:`, ...rows];
  return [`${indent}${field}:`, `${indent}  from: ${value}${because}`, ...written];
}
