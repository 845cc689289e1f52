import { plainName } from '../../core/kernel/json-shape.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { type FieldChoice, findFields } from './field-names.ts';
import type { Api, DocumentedOperation } from './openapi-document.ts';
import { type PagingEvidence, readPaging } from './paging-evidence.ts';
import { expressionOf, membersOf, type Shape } from './shape.ts';
import { NO_THING, OTHER_THINGS, vocabularyOf, wordsOf } from './vocabulary.ts';

/** A list that can be a resource, with what the document shows of it. */
export interface Candidate {
  readonly operation: DocumentedOperation;
  readonly items: string;
  readonly fields: ReadonlyMap<string, FieldChoice>;
  readonly paging: PagingEvidence;
  /** What keeps it from being used as it is, in words; empty for a clear choice. */
  readonly doubts: readonly string[];
}

export interface ResourceCandidates {
  readonly resource: Resource;
  /** The likeliest first. */
  readonly candidates: readonly Candidate[];
  /** The first candidate, where nothing speaks for another one or against it. */
  readonly clear: Candidate | undefined;
}

const SHOWN = 3;

/** The end of a path that lists what its query describes, most often all: `/projects/search`. */
const SEARCH = /\/search\/?$/;

/** Finds the lists that can be each resource. */
export function findCandidates({ operations }: Api, resources: readonly Resource[]): ResourceCandidates[] {
  return resources.map((resource) => {
    const ranked = operations.flatMap((operation) => rank(resource, operation)).toSorted((a, b) => b.score - a.score);
    const [best, second] = ranked;
    const isAlone = second === undefined || (best !== undefined && best.score - second.score >= LEAST_LEAD);
    const clear = best !== undefined && isAlone && best.candidate.doubts.length === 0 ? best.candidate : undefined;
    return { resource, clear, candidates: ranked.slice(0, SHOWN).map(({ candidate }) => candidate) };
  });
}

/** Two lists whose scores differ by less are equally likely. */
const LEAST_LEAD = 2;

function rank(
  resource: Resource,
  operation: DocumentedOperation,
): { readonly candidate: Candidate; readonly score: number }[] {
  const { path, title, parameters, body, isDeprecated } = operation;
  // What a variable ends is one thing, unless it says otherwise: ListWorkflows of one {namespace}.
  if (/\}\/?$/.test(path) && !/(?:\b|_)lists?(?=[A-Z\s])/i.test(title)) return [];
  const isSearch = SEARCH.test(path);
  const things = path
    .replace(SEARCH, '')
    .split('/')
    .filter((each) => each !== '' && !each.startsWith('{') && !NO_THING.test(each));
  const words = things.flatMap(wordsOf);
  const { clear, possible } = vocabularyOf(resource);
  const noun = [...clear, ...possible].find((phrase) => words.slice(-phrase.split(' ').length).join(' ') === phrase);
  if (noun === undefined) return [];
  const others = words.filter((word) => OTHER_THINGS.has(word) && !noun.includes(word));
  if (others.length > 0) return [];
  const list = findItems(body);
  if (list === undefined && !body.isElsewhere) return [];
  const fields = findFields(resource, list?.item ?? body, noun.replaceAll(' ', ''));
  const paging = readPaging(operation);
  const paged = new Set<unknown>(Object.values(paging.pagination ?? {}));
  const parents = path.match(/\{[^{}]*\}/g) ?? [];
  const required = parameters.filter((each) => each.required && !paged.has(each.name));
  const isElsewhere = list === undefined || list.item.isElsewhere;
  const lacking = ['id', 'name'].filter((field) => {
    const choice = fields.get(field);
    return resource.shape.shape[field] !== undefined && (choice?.from === undefined || choice.inDoubt);
  });
  const doubts = [
    ...(clear.includes(noun) ? [] : [`${noun} can also mean something else`]),
    ...(isDeprecated ? ['it is deprecated'] : []),
    ...(isSearch ? ['it is a search, which may need words to find'] : []),
    ...(words.length > noun.split(' ').length ? [`it is a list of ${things.join(' ')}`] : []),
    ...parents.map((parent) => `it is below one ${parent}`),
    ...required.map(({ name }) => `it requires the parameter ${name}`),
    ...operation.requiredHeaders.map((name) => `it requires the header ${name}: set headers of the upstream`),
    ...(isElsewhere ? ['its reply is described in another file, which is not read'] : []),
    ...(list?.isInDoubt ? [`the reply has other lists beside ${list.items}`] : []),
    ...(isElsewhere ? [] : lacking.flatMap((field) => fieldNotes(field, fields.get(field)))),
    ...(paging.pagination ? [] : [`paging is not clear: ${paging.seen.join(', ')}`]),
  ];
  const tier = clear.includes(noun) ? 10 - clear.indexOf(noun) : 4;
  const later = 2 * Number(isDeprecated) + Number(isSearch);
  const score = tier - later - 2 * parents.length - required.length - 0.5 * (words.length - 1) - 3 * lacking.length;
  return [{ candidate: { operation, items: list?.items ?? '@', fields, paging, doubts }, score }];
}

/** Returns what a person should know of a choice, if anything. */
export function fieldNotes(field: string, choice: FieldChoice | undefined): string[] {
  if (choice?.from === undefined)
    return [`${field}: no member found; ${field === 'id' ? 'each item needs one' : 'it reads ""'}`];
  return choice.inDoubt ? [`${field} may be ${choice.from}`] : [];
}

const BESIDE =
  /^(?:errors?|warnings|messages|links?|included|facets|tags|(?:failed|failing|invalid|skipped|rejected)\w*)$/;

/** Finds the list of objects in a reply: that nearest to the top. In doubt where there is another. */
function findItems(body: Shape) {
  const [best, ...others] = [{ path: [] as readonly string[], shape: body }, ...membersOf(body)].flatMap(
    ({ path, shape }) => {
      const item = shape.type === 'list' ? shape.items() : undefined;
      if (item === undefined || !['object', 'unknown'].includes(item.type)) return [];
      return BESIDE.test(plainName(path.at(-1) ?? '')) ? [] : [{ items: expressionOf(path), item }];
    },
  );
  return best && { ...best, isInDoubt: others.length > 0 };
}
