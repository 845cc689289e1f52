import type { Resource } from '../../core/resources/resource.ts';
import { requiredFields } from '../../core/resources/resource.ts';
import { expressionOf, type Member, plainName, type Shape } from '../describe/shape.ts';
import { wordsOf } from './vocabulary.ts';

/** The setting for one documented field, and its reason. */
export interface FieldGuess {
  /** The expression. Undefined if items seem not to have the field. */
  readonly from: string | undefined;
  /** Written if `from` is undefined and the default expression would select a member that is not a text. */
  readonly instead?: string;
  readonly values: Readonly<Record<string, string>>;
  readonly why: string;
  readonly inDoubt: boolean;
}

/** Names of members without case and separators, the surest first. `*` is the noun of the list: `*id` is `workflowid`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  id: ['id', 'uuid', '*id', '*uuid', 'uid', 'guid', 'pk', '*key', 'key', 'slug', 'identifier', 'urn', '*slug', 'name'],
  name: ['name', '*name', 'displayname', 'title', 'label', 'fullname', 'friendlyname', 'slug', '*slug'],
  description: [
    ...['description', '*description', 'summary', 'desc', 'shortdescription', 'about', 'purpose', 'metadescription'],
    ...['details', 'comment', 'notes'],
  ],
  createTime: [
    ...['createtime', 'createdat', 'created', 'creationtime', 'createdon', 'datecreated', 'createddate'],
    ...['creationdate', 'timecreated', 'createdtime', 'creationtimestamp', 'insertedat', 'dateadded', 'addedat'],
  ],
  triggerType: ['triggertype', 'trigger', 'triggers', 'triggeredby', 'starttype', '*triggertype'],
  status: ['status', 'state', '*status', '*state', 'lifecyclestate', 'lifecycle'],
  version: ['version', '*version', 'currentversion', 'installedversion', 'latestversion', 'versionnumber'],
  category: ['category', 'categories', '*category', '*type', 'type', 'kind', 'class', 'family', 'group'],
};

/** Flags that are used as a status, and which of their two values means active. */
const FLAGS: Readonly<Record<string, boolean>> = {
  active: true,
  isactive: true,
  enabled: true,
  isenabled: true,
  disabled: false,
  isdisabled: false,
  archived: false,
  paused: false,
  ispaused: false,
  suspended: false,
};

/** Objects in which a platform wraps the fields of an item. */
const WRAPPERS: ReadonlySet<string> = new Set([
  ...['attributes', 'metadata', 'properties', 'spec', 'meta', 'info', 'details', 'data', 'resource'],
]);
/** Members that identify an object: `category.name`, `trigger.type`. */
const IDENTIFYING = ['type', 'name', 'kind', 'displayName', 'title', 'slug', 'value', 'key'];

/**
 * Guesses the expression of each documented field of a resource. `noun` is the last word of the path for what the list holds,
 * `words` are all words of its path and title.
 */
export function guessFields(
  resource: Resource,
  item: Shape,
  noun: string,
  words: readonly string[] = [],
): Map<string, FieldGuess> {
  const members = membersOf(item, noun);
  const required = requiredFields(resource);
  const found = Object.keys(resource.shape.shape).map((field) => {
    const proposal = guessField(field, { members, noun, words, required: required.includes(field) });
    return [field, proposal] as const;
  });
  return new Map(found);
}

/** Returns the members of an item, those in its wrappers last. */
function membersOf(item: Shape, noun: string): Member[] {
  const top = [...item.members].map(([key, shape]) => ({ path: [key], shape }));
  const wrapped = top
    .filter(({ path: [key = ''] }) => WRAPPERS.has(plainName(key)) || plainName(key) === noun)
    .flatMap(({ path, shape }) => [...shape.members].map(([key, inner]) => ({ path: [...path, key], shape: inner })));
  return [...top, ...wrapped];
}

interface Known {
  readonly members: readonly Member[];
  readonly noun: string;
  readonly words: readonly string[];
  readonly required: boolean;
}

function guessField(field: string, { members, noun, words, required }: Known): FieldGuess {
  for (const [rank, name] of (NAMES[field] ?? [plainName(field)]).entries()) {
    const wanted = name.replace('*', noun);
    const found = members.find(({ path, shape }) => plainName(path.at(-1)) === wanted && isOne(shape, field));
    if (found !== undefined) return write(field, found, members, required, rank > 4);
  }
  if (field === 'name') {
    // `app_slug` of app installations fits; `host_name` or `file_name` does not.
    const near = members.find(({ path, shape }) => {
      const ofKey = wordsOf(path.at(-1) ?? '');
      const isName = ['name', 'slug', 'title'].includes(ofKey.at(-1) ?? '');
      return isName && isScalar(shape) && ofKey.slice(0, -1).every((word) => words.includes(word));
    });
    const found = near ?? members.find(({ path, shape }) => plainName(path.join()) === 'id' && isScalar(shape));
    if (found !== undefined) return write(field, found, members, required, true);
  }
  return (field === 'status' && byFlag(members)) || nothing(field, members);
}

/** A field without a setting takes the member of its own name. If that is not a text, an empty text has to be written. */
function nothing(field: string, members: readonly Member[]): FieldGuess {
  const own = members.some(({ path }) => path.length === 1 && path[0] === field);
  const why = `no member of an item ${own ? 'is a text' : 'is'} like ${field}, so it reads ""`;
  return { from: undefined, values: {}, why, inDoubt: false, ...(own && { instead: "''" }) };
}

function isScalar({ type }: Shape): boolean {
  return type === 'text' || type === 'number' || type === 'unknown';
}

/** Whether a member can become the text of a field. */
function isOne(shape: Shape, field: string): boolean {
  if (isScalar(shape)) return true;
  if (field === 'id' || field === 'name' || field === 'createTime') return false;
  if (shape.type === 'object') return identifyingMember(shape) !== undefined;
  return (
    shape.type === 'list' &&
    shape.items !== undefined &&
    (shape.items.type === 'text' || identifyingMember(shape.items) !== undefined)
  );
}

function identifyingMember({ members }: Shape): string | undefined {
  return IDENTIFYING.find((name) => {
    const shape = members.get(name);
    return shape !== undefined && isScalar(shape);
  });
}

function write(
  field: string,
  { path, shape }: Member,
  members: readonly Member[],
  required: boolean,
  inDoubt: boolean,
): FieldGuess {
  const at = expressionOf(path);
  const why = `a member of each item`;
  if (shape.type === 'object') return { from: `${at}.${identifyingMember(shape)}`, values: {}, why, inDoubt: true };
  if (shape.type === 'list') {
    // join takes texts only, so that null is filtered out.
    const texts = shape.items?.type === 'text' ? '[?@]' : `[].${identifyingMember(shape.items ?? shape)}`;
    return { from: `join(', ', (${at} || \`[]\`)${texts})`, values: {}, why: `${why} that is a list`, inDoubt: true };
  }
  const values = field === 'status' || field === 'triggerType' ? documented(shape.values) : {};
  if (field !== 'name' || !required || !shape.optional) return { from: at, values, why, inDoubt };
  const id = members.find((member) => plainName(member.path.join()) === 'id' && isScalar(member.shape));
  if (id === undefined) return { from: at, values, why, inDoubt: true };
  const from = `${at} || to_string(${expressionOf(id.path)})`;
  return { from, values, why: `${why} that can be missing; its id replaces it`, inDoubt };
}

/** Maps a platform's values to the documented form: `in progress` to `IN_PROGRESS`. */
function documented(values: readonly string[]): Record<string, string> {
  const wordOf = (value: string) =>
    value
      .trim()
      .replace(/[^A-Za-z0-9]+/g, '_')
      .toUpperCase();
  const pairs = values.map((value) => [value, wordOf(value)] as const);
  const changed = pairs.filter(
    ([value, word]) => value !== word && /[A-Z]/.test(word) && !/\$\{/.test(value) && !(value in {}),
  );
  return changed.length > MAX_VALUES ? {} : Object.fromEntries(changed);
}

const MAX_VALUES = 20;

function byFlag(members: readonly Member[]): FieldGuess | undefined {
  const found = members.find(({ path, shape }) => {
    const isFlag = shape.type === 'boolean' || shape.type === 'unknown';
    return isFlag && Object.hasOwn(FLAGS, plainName(path.at(-1)));
  });
  if (found === undefined) return undefined;
  const from = expressionOf(found.path);
  const active = FLAGS[plainName(found.path.at(-1))] === true;
  const values = { [String(active)]: 'ACTIVE', [String(!active)]: 'INACTIVE' };
  return { from, values, why: 'a member of each item that is true or false', inDoubt: false };
}
