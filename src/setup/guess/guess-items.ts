import { expressionOf, type Member, membersOf, plainName, type Shape } from '../describe/shape.ts';
import { wordsOf } from './vocabulary.ts';

export interface ItemsGuess {
  readonly items: string;
  readonly item: Shape;
  readonly count: number | undefined;
  /** How well it fits. Two guesses that differ by 1 at most are almost equally likely. */
  readonly score: number;
}

const USUAL =
  /^(?:items|data|results?|content|entries|records|list|values?|objects|elements|resources|rows|docs|documents|nodes|entities|affecteditems|embedded|hits|response)$/;
const BESIDE = /^(?:errors?|warnings|messages|links?|faileditems|included|facets|tags)$/;
const ID = /id$|^(?:key|slug|urn)$/;
const NAME = /name$|^title$/;

/** Guesses where a body holds the list that `name` names, the best guess first. An empty list can be any. */
export function guessItems(body: Shape, name: string): ItemsGuess[] {
  return [{ path: [], shape: body }, ...membersOf(body)]
    .filter(({ path }) => !path.some((key) => BESIDE.test(plainName(key)) && !isNamed(key, name)))
    .flatMap((member) => guessAt(member, name))
    .toSorted((a, b) => b.score - a.score);
}

function guessAt({ path, shape }: Member, name: string): ItemsGuess[] {
  const { items: item, count } = shape;
  if (shape.type !== 'list' || item === undefined || !['object', 'unknown'].includes(item.type)) return [];
  const names = [...item.members.keys()].map(plainName);
  const score = [
    scoreOfPath(path, name),
    names.some((each) => ID.test(each)) ? 2 : 0,
    names.some((each) => NAME.test(each)) ? 1 : 0,
    (count ?? 0) > 0 ? 3 : 0,
  ].reduce((sum, each) => sum + each);
  return [{ items: expressionOf(path), item, count, score }];
}

function scoreOfPath(path: readonly string[], name: string): number {
  const key = path.at(-1) ?? '';
  const byName = path.length === 0 ? 10 : isNamed(key, name) ? 8 : USUAL.test(plainName(key)) ? 6 : 0;
  return byName - path.length;
}

function isNamed(key: string, name: string): boolean {
  const last = wordsOf(key.replace(/list$/i, '')).at(-1);
  return last !== undefined && last === wordsOf(name).at(-1);
}

/** Whether another guess is almost as likely as the best one. */
export function isInDoubt([best, second]: readonly ItemsGuess[]): boolean {
  return best !== undefined && second !== undefined && second.score >= best.score - 1;
}
