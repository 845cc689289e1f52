import type { Resource } from '../../core/resources/resource.ts';
import { expressionOf, type Member, plainName, type Shape } from '../describe/shape.ts';
import { wordsOf } from './vocabulary.ts';

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
const NAMES: Readonly<Record<string, string>> = {
  id: 'id uuid *id *uuid uid guid pk *key key slug identifier urn *slug name',
  name: 'name *name displayname title label fullname friendlyname slug *slug',
  description:
    'description *description summary desc shortdescription about purpose metadescription details comment notes',
  createTime: `createtime createdat created creationtime createdon datecreated createddate creationdate timecreated
    createdtime creationtimestamp insertedat dateadded addedat`,
  triggerType: 'triggertype trigger triggers triggeredby starttype *triggertype',
  status: 'status state *status *state lifecyclestate lifecycle',
  version: 'version *version currentversion installedversion latestversion versionnumber',
  category: 'category categories *category *type type kind class family group',
};
/** From this place on in `NAMES`, a name is in doubt. */
const DOUBTFUL_FROM = 5;

const ACTIVE_FLAG = /^(?:is)?(?:active|enabled)$/;
const INACTIVE_FLAG = /^(?:(?:is)?(?:disabled|paused)|archived|suspended)$/;

/** Members that identify an object: `category.name`, `trigger.type`. */
const IDENTIFYING = ['type', 'name', 'kind', 'displayName', 'title', 'slug', 'value', 'key'];

/** Guesses the expression of each field. `noun`: what the path says the list holds. `words`: all of its path and title. */
export function guessFields(
  resource: Resource,
  item: Shape,
  noun: string,
  words: readonly string[] = [],
): Map<string, FieldGuess> {
  const members = [...item.members].map(([key, shape]) => ({ path: [key], shape }));
  const guesses = Object.keys(resource.shape.shape).map((field) => {
    const found = byName(field, members, noun) ?? (field === 'name' ? nearName(members, words) : undefined);
    if (found !== undefined) return [field, write(found)] as const;
    return [field, (field === 'status' && byFlag(members)) || nothing(field, members)] as const;
  });
  return new Map(guesses);
}

/** Whether items have an id and a name. An empty list shows neither. */
export function hasIdAndName(fields: ReadonlyMap<string, FieldGuess>): boolean {
  return fields.get('id')?.from !== undefined && fields.get('name')?.from !== undefined;
}

type Found = Member & { readonly inDoubt: boolean };

function byName(field: string, members: readonly Member[], noun: string): Found | undefined {
  const names = NAMES[field]?.split(/\s+/) ?? [plainName(field)];
  for (const [rank, name] of names.entries()) {
    const wanted = name.replace('*', noun);
    const found = members.find(({ path, shape }) => plainName(path.at(-1)) === wanted && isText(shape, field));
    if (found !== undefined) return { ...found, inDoubt: rank >= DOUBTFUL_FROM };
  }
  return undefined;
}

/** Finds a name such as `app_slug` of app installations, or else the id. `host_name` or `file_name` does not fit. */
function nearName(members: readonly Member[], words: readonly string[]): Found | undefined {
  const near = members.find(({ path, shape }) => {
    const ofKey = wordsOf(path.at(-1) ?? '');
    const isName = ['name', 'slug', 'title'].includes(ofKey.at(-1) ?? '');
    return isName && isScalar(shape) && ofKey.slice(0, -1).every((word) => words.includes(word));
  });
  const found = near ?? idOf(members);
  return found && { ...found, inDoubt: true };
}

function idOf(members: readonly Member[]): Member | undefined {
  return members.find(({ path, shape }) => plainName(path.join()) === 'id' && isScalar(shape));
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

function isText(shape: Shape, field: string): boolean {
  if (isScalar(shape)) return true;
  if (field === 'id' || field === 'name' || field === 'createTime') return false;
  return shape.type === 'object' && identifyingMember(shape) !== undefined;
}

function identifyingMember({ members }: Shape): string | undefined {
  return IDENTIFYING.find((name) => {
    const member = members.get(name);
    return member !== undefined && isScalar(member);
  });
}

function write({ path, shape, inDoubt }: Found): FieldGuess {
  const at = expressionOf(path);
  const why = 'a member of each item';
  if (shape.type === 'object') return { from: `${at}.${identifyingMember(shape)}`, values: {}, why, inDoubt: true };
  return { from: at, values: {}, why, inDoubt };
}

function byFlag(members: readonly Member[]): FieldGuess | undefined {
  const found = members.find(({ path, shape }) => {
    const name = plainName(path.at(-1));
    return ['boolean', 'unknown'].includes(shape.type) && (ACTIVE_FLAG.test(name) || INACTIVE_FLAG.test(name));
  });
  if (found === undefined) return undefined;
  const active = ACTIVE_FLAG.test(plainName(found.path.at(-1)));
  const values = { [String(active)]: 'ACTIVE', [String(!active)]: 'INACTIVE' };
  return { from: expressionOf(found.path), values, why: 'a member of each item that is true or false', inDoubt: false };
}
