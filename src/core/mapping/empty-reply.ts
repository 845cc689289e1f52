import { membersOf, plainName } from '../kernel/json-shape.ts';

/** Names, in lower case and without separators, of numbers and texts that say nothing against an empty list. */
const NEUTRAL =
  /^(?:total|count|num|nb|pag(?:e|ing|ination)|per|limit|offset|start|skip|size|max|next|prev|has|more|cursor|link|self|href|ur[il]|first|last|current|kind|apiversion|version|request|trace|took|duration|elapsed|context|odata|etag|filter|sort|order|xmlns)|(?:count|total|size|perpage|id|type|class|context|version|time|timestamp|object|host|server|ms|date)$/;
/** Objects about a list; SCIM names its schemas. */
const ABOUT_LIST =
  /^(?:schemas|links?|meta\w*|pag(?:e|ing|ination)\w*|context|status|info|details|cursors?|query|request|response\w*|result(?:info|set))$/;
/** Lists of something else. */
const NO_LIST = /^(?:links?|meta\w*|sorts?|filters?|facets?|aggregations?|warnings?|messages?|errors?|columns|fields)$/;
const RESULT =
  /^(?:response|result|return|ret|http|api|err(?:or)?)*(?:status|code|success|ok|result|outcome|message|msg|detail|info|description|title|severity)$|^err(?:or)?(?:s|no)?$/;
const FINE =
  /^(?:true|0+|2\d\d|1|none|ok|okay|success\w*|done|empty|no (?:data|results?|items?|records?|content)\b.*|nothing found.*)$/i;
const MAX_DEPTH = 4;

/**
 * Returns what a reply without a list says besides, or `undefined` if it says no more than that the list is empty. `leads`: names
 * on the way to the list.
 */
export function saysOtherwise(body: unknown, leads: readonly (string | number)[]): string | undefined {
  const other = otherList(body, leads);
  let value = body;
  for (const [depth, lead] of leads.entries()) {
    if (value === null || value === '' || Array.isArray(value)) return other;
    if (typeof value !== 'object') return other ?? 'the way to it ends at another value';
    if (!Object.hasOwn(value, lead)) break;
    value = Reflect.get(value, lead);
    // The member itself is there: null, or the like.
    if (depth === leads.length - 1) return other && `${other}; if it is another one, set allowEmpty: true`;
  }
  if (other !== undefined || value === null || value === '') return other;
  const said = membersOf(Object(value)).find(([name, member]) => !isNeutral(name, member));
  if (said !== undefined)
    return `the reply has ${nameable(said[0])} instead; allowEmpty: true takes it for an empty list`;
  return typeof value === 'object' ? undefined : 'the reply is another value';
}

/** Describes a list elsewhere in a reply that may be the one that is meant. */
export function otherList(body: unknown, leads: readonly (string | number)[]): string | undefined {
  const isNamed = (name: string) => leads.includes(name) || !NO_LIST.test(plainName(name));
  const other = listsIn(body).find(({ path, list }) => path.every(isNamed) && list.some((each) => isNested(each)));
  return other && `${other.path.map(nameable).join('.') || 'the reply itself'} has ${other.list.length} items`;
}

/** Finds the lists of a reply that are in no other list. */
export function* listsIn(
  value: unknown,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly list: readonly unknown[] }> {
  if (Array.isArray(value)) yield { path, list: value };
  else if (isNested(value) && path.length <= MAX_DEPTH)
    for (const [name, member] of membersOf(value)) yield* listsIn(member, [...path, name]);
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isNeutral(member: string, value: unknown): boolean {
  // Attributes of XML are members of `$`.
  const name = member === '$' ? 'meta' : plainName(member);
  if (value === null || value === '' || (value === false && !/auth|log|session|valid/.test(name))) return true;
  if (typeof value === 'object') return Object.keys(value).length === 0 || ABOUT_LIST.test(name);
  return RESULT.test(name) ? FINE.test(`${value}`.trim()) : NEUTRAL.test(name);
}

/** A name that can be written to a log. One that is long or has a digit could be a token that the platform repeats. */
function nameable(name: string): string {
  return /^[A-Za-z_@:.$-]{1,24}$/.test(name) ? name : 'a member';
}
