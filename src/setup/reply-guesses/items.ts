import { expressionOf, plainName } from '../description/names.ts';
import { isObject } from '../description/shape.ts';
import { type Member, membersOf } from './members.ts';

/** Where a body seems to hold its list. */
export interface ItemsGuess {
  /** For the setting `items`: JMESPath over the body. */
  readonly items: string;
  /** How many items it finds in this body. */
  readonly count: number;
  /** Keys of the first item, as the platform calls them; a bounded number of them. */
  readonly keys: readonly string[];
}

/** What lists are called where they are not called for what they hold. */
const USUAL = new Set(
  ['content', 'data', 'docs', 'documents', 'entities', 'entries', 'hits', 'items', 'list', 'nodes', 'objects'].concat([
    'records',
    'resources',
    'results',
    'rows',
    'value',
    'values',
  ]),
);
/** What is never the list that is asked for: what went wrong, and where else to go. */
const OTHERS = new Set(['error', 'errors', 'warnings', 'links']);
const IDS = new Set(['id', 'uuid', 'uid', 'guid', 'key', 'slug', 'urn']);
const MAX_GUESSES = 5;
const MAX_KEYS = 40;
/** Items that tell what a list holds. */
const LOOKED_AT = 20;

interface Candidate extends ItemsGuess {
  readonly score: number;
}

/**
 * Guesses where `body` holds the list of what `names` call it (`projects`, `workspaces`), the best guess first. Lists of
 * anything else than objects are none; an empty list may be any.
 */
export function guessItems(body: unknown, names: readonly string[] = []): ItemsGuess[] {
  const wanted = new Set(names.flatMap((name) => formsOf(plainName(name))));
  return membersOf(body)
    .filter(({ path }) => !path.some((key) => OTHERS.has(plainName(key))))
    .flatMap((member) => candidatesAt(member, wanted))
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_GUESSES)
    .map(({ items, count, keys }) => ({ items, count, keys }));
}

function candidatesAt({ path, value }: Member, wanted: ReadonlySet<string>): Candidate[] {
  const at = expressionOf(path);
  const score = scoreOfPath(path, wanted);
  if (Array.isArray(value)) {
    // A connection of GraphQL: what is wanted stands one level deeper.
    if (value.length > 0 && value.every((edge) => isObject(edge) && isObject(edge['node']))) {
      return [
        candidate(
          `${at}[].node`,
          value.map(({ node }) => node),
          score,
        ),
      ];
    }
    return value.slice(0, LOOKED_AT).every(isObject) ? [candidate(at, value, score)] : [];
  }
  return isObject(value) && isTable(value) ? [candidate(`values(${at})`, Object.values(value), score - 4)] : [];
}

/** Whether an object is a list whose items stand under their ids: several objects that are alike and have a name. */
function isTable(value: Readonly<Record<string, unknown>>): boolean {
  const [first, ...others] = Object.values(value).slice(0, LOOKED_AT);
  if (others.length < 2 || !isObject(first)) return false;
  const keys = Object.keys(first);
  return keys.includes('name') && others.every((other) => isObject(other) && keys.every((key) => key in other));
}

function candidate(items: string, list: readonly unknown[], ofPath: number): Candidate {
  const [first] = list;
  const keys = isObject(first) ? Object.keys(first) : [];
  const plain = keys.map(plainName);
  const named = plain.some((key) => IDS.has(key) || key.endsWith('id')) ? 3 : 0;
  const score = ofPath + named + (plain.some((key) => key.endsWith('name') || key === 'title') ? 2 : 0);
  return { items, count: list.length, keys: keys.slice(0, MAX_KEYS), score: score + (list.length > 0 ? 3 : 0) };
}

function scoreOfPath(path: readonly string[], wanted: ReadonlySet<string>): number {
  const key = plainName(path.at(-1));
  const byName = wanted.has(key) ? 8 : USUAL.has(key) || path.length === 0 ? 4 : 0;
  return byName - path.length;
}

function formsOf(name: string): string[] {
  const singular = name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/s$/, '');
  return [name, singular, `${singular}s`, `${singular}list`];
}
