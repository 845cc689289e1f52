import { expressionOf, plainName } from '../description/names.ts';
import type { Shape } from '../description/shape.ts';
import { wordsOf } from './words.ts';

/** Where a body holds its list. */
export interface FoundItems {
  readonly items: string;
  readonly item: Shape;
  /** Whether another list of the same body might be meant. */
  readonly inDoubt: boolean;
}

/** What lists are called where they are not called for what they hold. */
const USUAL = new Set(
  [
    'items',
    'data',
    'results',
    'content',
    'entries',
    'records',
    'list',
    'value',
    'values',
    'objects',
    'elements',
  ].concat([
    'resources',
    'rows',
    'docs',
    'nodes',
    'entities',
    'affecteditems',
    'embedded',
    'hits',
    'response',
    'result',
  ]),
);
/** Lists that are there beside the items. */
const BESIDE = new Set([
  'errors',
  'warnings',
  'messages',
  'links',
  'link',
  'faileditems',
  'included',
  'facets',
  'tags',
]);
const MAX_DEPTH = 3;

/** Finds the list of objects in the shape of a body; `name` is what the path calls it. Undefined where there is none. */
export function findItems(body: Shape, name: string): FoundItems | undefined {
  const found = listsIn(body, [], name).toSorted((a, b) => b.score - a.score);
  const [best, second] = found;
  if (best === undefined) return undefined;
  const inDoubt = second !== undefined && second.score >= best.score - 1;
  return { items: expressionOf(best.path), item: best.item, inDoubt };
}

interface Candidate {
  readonly path: readonly string[];
  readonly item: Shape;
  readonly score: number;
}

function listsIn(shape: Shape, path: readonly string[], name: string): Candidate[] {
  if (shape.type === 'list') {
    const item = shape.items;
    const isScalar = item === undefined || !['object', 'unknown'].includes(item.type);
    return isScalar ? [] : [{ path, item, score: scoreOf(path, item, name) }];
  }
  if (path.length >= MAX_DEPTH) return [];
  return [...shape.members].flatMap(([key, member]) => listsIn(member, [...path, key], name));
}

function scoreOf(path: readonly string[], item: Shape, name: string): number {
  const key = path.at(-1) ?? '';
  const plain = plainName(key);
  const names = [...item.members.keys()].map(plainName);
  const isNamed = names.some((member) => member.endsWith('id')) && names.some((member) => member.endsWith('name'));
  const byName = path.length === 0 ? 10 : sameName(key, name) ? 8 : USUAL.has(plain) ? 6 : BESIDE.has(plain) ? -4 : 0;
  return byName + (isNamed ? 3 : 0) - path.length;
}

function sameName(key: string, name: string): boolean {
  const [a, b] = [wordsOf(key), wordsOf(name)];
  return a.length > 0 && (a.join() === b.join() || a.at(-1) === b.at(-1));
}
