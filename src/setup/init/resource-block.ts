import type { Scalar, YAMLMap } from 'yaml';
import type { Listing } from '../describe/listing.ts';
import type { FieldGuess } from '../guess/guess-fields.ts';
import { wordsOf } from '../guess/vocabulary.ts';
import { type BaseUrl, variableOf } from './base-url.ts';
import { hasRival, type ResourceProposal } from './proposal.ts';
import { type Entry, oneLine, plainText, referring, yamlBlock } from './yaml-text.ts';

/** Environment variables that a settings file needs. */
export interface Variables {
  /** Meaning by name. */
  readonly all: ReadonlyMap<string, string>;
  /** Adds a variable and returns a reference to it. `other` names it if `name` has another meaning. */
  reference(meaning: string, name: string, other?: string): Scalar;
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
      return referring(`\${${chosen}}`);
    },
  };
}

/** Returns a text as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

interface Block {
  readonly block: YAMLMap;
  readonly isOffered: boolean;
  readonly doubts: readonly string[];
}

/** Writes the settings of one resource with a comment on each guess. */
export function resourceBlock(proposal: ResourceProposal, upstream: string, variables: Variables): Block {
  const { found, others } = proposal;
  const paths = others.map(({ listing }) => oneLine(listing.path)).join(', ');
  const alternatives = paths === '' ? [] : [`Other candidates: ${paths}.`];
  const disabled = { key: 'enabled', value: false };
  if (found === undefined) {
    const before = ['No list fits, so the resource is disabled.', ...alternatives];
    const doubts = ['which list it is: none fits, so the resource is disabled'];
    return { block: yamlBlock([{ ...disabled, before }]), isOffered: false, doubts };
  }
  const { listing, fields, paging } = found;
  const isOffered = paging.pagination !== undefined;
  const pagination = paging.pagination ?? paging.likely ?? { kind: 'link', sizeParam: null };
  const doubts = doubtsOf(proposal);
  const title = oneLine(listing.title);
  const summary = `GET ${oneLine(listing.path)}${title === '' ? '' : `: "${title}"`}.`;
  const { path, pathParams } = pathOf(listing, variables);
  const query = queryOf(listing, { pagination, query: paging.query ?? {} }, variables);
  const [first = disabled, ...rest] = [
    ...(isOffered ? [] : [disabled]),
    { key: 'upstream', value: upstream },
    { key: 'path', value: plainText(path) },
    ...(pathParams.length > 0 ? [{ key: 'pathParams', value: yamlBlock(pathParams) }] : []),
    { key: 'query', value: query.length > 0 ? yamlBlock(query) : {} },
    { key: 'items', value: listing.items },
    { key: 'pagination', value: pagination, before: [sentence(oneLine(paging.why))] },
    { key: 'fields', value: fieldsBlock(fields) },
  ];
  const before = [summary, ...alternatives, ...doubts.map((doubt) => `Check ${doubt}.`)];
  return { block: yamlBlock([{ ...first, before }, ...rest]), isOffered, doubts };
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
  const pathParams: Entry[] = [];
  const written = path.replace(/\{([^{}]*)\}/g, (_, name: string, index: number) => {
    const key = name.replace(/\W/g, '_');
    if (!pathParams.some((each) => each.key === key)) {
      const before = path.slice(0, index);
      // The segment before an id names what it identifies: `projects/{id}`.
      const of = /^(?:id|uuid|key|slug|name)$/i.test(name) ? wordsOf(before.split('/').at(-2) ?? '') : [];
      const other = [...wordsOf(before), name].join('_');
      const value = variables.reference(`${name} in ${before}{${name}}`, [...of, name].join('_'), other);
      pathParams.push({ key, value });
    }
    return `{${key}}`;
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
): Entry[] {
  const taken = new Set<unknown>([...Object.values(pagination), ...Object.keys(query)]);
  const required = parameters.filter((each) => isRequiredQuery(each) && !taken.has(each.name));
  const requests = Object.entries(query).map(([key, value]) => {
    return { key, value, behind: 'without it the platform sends no total' };
  });
  return [
    ...requests,
    ...required
      .filter(({ name }) => !CREDENTIAL.test(name))
      .map(({ name, value }) => ({ key: name, value: value ?? variables.reference(`query parameter ${name}`, name) })),
  ];
}

function fieldsBlock(fields: ReadonlyMap<string, FieldGuess>): YAMLMap {
  const missing: string[] = [];
  const entries: Entry[] = [];
  for (const [key, { from, instead, values, why }] of fields) {
    const text = from ?? instead;
    if (text === undefined) missing.push(` ${key}: ${why}.`);
    else if (Object.keys(values).length === 0) entries.push({ key, value: text, behind: why });
    else {
      const table = { key: 'values', value: values };
      entries.push({ key, value: yamlBlock([{ key: 'from', value: text, behind: why }, table]) });
    }
  }
  const block = yamlBlock(entries);
  block.comment = missing.join('\n');
  return block;
}
