import { expressionOf, type Member, membersOf, plainName, type Shape } from '../describe/shape.ts';
import { wordsOf } from './vocabulary.ts';

/** Where a body seems to hold its list. */
export interface ItemsGuess {
  /** For the setting `items`: JMESPath over the body. */
  readonly items: string;
  readonly item: Shape;
  /** Number of items, if the body was seen. */
  readonly count: number | undefined;
  /** How well it fits. Two guesses that differ by 1 at most are almost equally likely. */
  readonly score: number;
}

/** Usual names of lists, besides the name of what they hold. */
const USUAL = new Set([
  ...['items', 'data', 'results', 'content', 'entries', 'records', 'list', 'value', 'values', 'objects', 'elements'],
  ...['resources', 'rows', 'docs', 'documents', 'nodes', 'entities', 'affecteditems', 'embedded', 'hits', 'response'],
  'result',
]);
/** Lists beside the items. */
const BESIDE = new Set([
  ...['error', 'errors', 'warnings', 'messages', 'links', 'link', 'faileditems', 'included', 'facets', 'tags'],
]);

/**
 * Guesses where a body holds the list of objects that `name` names (`projects`, `workspaces`), the best guess first. An empty
 * list can be any.
 */
export function guessItems(body: Shape, name: string): ItemsGuess[] {
  return [{ path: [], shape: body }, ...membersOf(body)]
    .filter(({ path }) => !path.some((key) => BESIDE.has(plainName(key)) && !isNamed(key, name)))
    .flatMap((member) => candidatesAt(member, name))
    .toSorted((a, b) => b.score - a.score);
}

function candidatesAt({ path, shape }: Member, name: string): ItemsGuess[] {
  const at = expressionOf(path);
  const score = scoreOfPath(path, name);
  const item = shape.items;
  if (shape.type === 'list' && item !== undefined && ['object', 'unknown'].includes(item.type)) {
    // A connection of GraphQL has its items one level deeper.
    const node = item.members.get('node');
    const isConnection = node?.type === 'object' && !node.optional;
    return [candidate(isConnection ? `${at}[].node` : at, isConnection ? node : item, shape.count, score)];
  }
  return [];
}

function candidate(items: string, item: Shape, count: number | undefined, ofPath: number): ItemsGuess {
  const names = [...item.members.keys()].map(plainName);
  const hasId = names.some((each) => ID.test(each));
  const hasName = names.some((each) => each.endsWith('name') || each === 'title');
  const isSeen = (count ?? 0) > 0;
  return { items, item, count, score: ofPath + (hasId ? 2 : 0) + (hasName ? 1 : 0) + (isSeen ? 3 : 0) };
}

const ID = /id$|^(?:key|slug|urn)$/;

function scoreOfPath(path: readonly string[], name: string): number {
  const key = path.at(-1) ?? '';
  const byName = path.length === 0 ? 10 : isNamed(key, name) ? 8 : USUAL.has(plainName(key)) ? 6 : 0;
  return byName - path.length;
}

function isNamed(key: string, name: string): boolean {
  const [a, b] = [wordsOf(key.replace(/list$/i, '')), wordsOf(name)];
  return a.length > 0 && a.at(-1) === b.at(-1);
}

/** Whether another guess is almost as likely as the best one. */
export function isInDoubt([best, second]: readonly ItemsGuess[]): boolean {
  return best !== undefined && second !== undefined && second.score >= best.score - 1;
}
