import type { Resource } from '../../core/resources/resource.ts';
import type { Listing } from '../describe/listing.ts';
import { type FieldGuess, guessFields, hasIdAndName } from './guess-fields.ts';
import { ALL_OF, API_WORDS, OTHER_THINGS, type Vocabulary, vocabularyOf, wordsOf } from './vocabulary.ts';

export interface Ranked {
  readonly listing: Listing;
  readonly fields: ReadonlyMap<string, FieldGuess>;
  /** How well it fits. Only the order and the thresholds below matter. */
  readonly score: number;
}

const LEAST = 6;
/** Two lists whose scores differ by less than this are almost equally likely. */
export const NEAR = 2;

/** A segment for lists of the caller: `/user/repos`. In the plural it would be of all users. */
const OF_THE_CALLER = /^(?:user|me|my|mine|self|current)$/i;

/** Returns the listings that could be the resource, the likeliest first. */
export function rankListings(resource: Resource, listings: readonly Listing[]): Ranked[] {
  const vocabulary = vocabularyOf(resource);
  return listings
    .flatMap((listing) => rankOne(resource, vocabulary, listing))
    .filter(({ score }) => score >= LEAST)
    .toSorted((a, b) => b.score - a.score);
}

function rankOne(resource: Resource, vocabulary: Vocabulary, listing: Listing): Ranked[] {
  const isBelowOne = /\}\/?$/.test(listing.path);
  // `/teams/{id}` is one team, whatever list it holds, and `/workflows/{namespace}` with items is a list.
  if (isBelowOne && !/^(?:@|items|results|data|records)$/.test(listing.items)) return [];
  const named = listing.path.split('/').filter((segment) => segment !== '' && !segment.includes('{'));
  const segments = named
    .filter((segment) => !/^v\d+(?:\.\d+)*$/i.test(segment) && !OF_THE_CALLER.test(segment))
    .map((segment) => wordsOf(segment.replace(/V\d+$/, '')))
    .filter((words) => !words.every((word) => API_WORDS.has(word)));
  const { weight, noun, rest } = nounOf(segments, vocabulary);
  if (weight === 0) return [];
  const title = wordsOf(listing.title);
  const fields = guessFields(resource, listing.item, noun, [...segments.flat(), ...title]);
  if (!hasIdAndName(fields)) return [];
  const filled = [...fields.values()].filter(({ from }) => from !== undefined).length;
  const others = rest.filter((word) => OTHER_THINGS.has(word) && !noun.includes(word)).length;
  const holes = listing.path.split('{').length - 1;
  const required = listing.parameters.filter((each) => each.required && each.value === undefined);
  const signs = [
    weight,
    filled * 0.7,
    named.some((segment) => OF_THE_CALLER.test(segment)) ? 2 : 0,
    // The deeper a list is, the more likely it belongs to something else.
    Math.max(0, segments.length - 1) * -0.5,
    others * -4,
    // A variable part narrows the list.
    holes * -2.5,
    required.length * -2,
  ];
  return [{ listing, fields, score: signs.reduce((sum, sign) => sum + sign, 0) }];
}

function nounOf(segments: readonly (readonly string[])[], vocabulary: Vocabulary) {
  const all = segments.flat();
  const last = segments.at(-1) ?? [];
  const isAllOf = segments.length > 1 && last.every((word) => ALL_OF.has(word));
  const head = isAllOf ? (segments.at(-2) ?? []) : last;
  const [noun = '', weight = 0] =
    Object.entries(vocabulary)
      .filter(([phrase]) => endsWith(isAllOf ? head : all, phrase.split(' ')))
      .toSorted((a, b) => b[1] - a[1])[0] ?? [];
  const words = noun.split(' ');
  // `project-badges` lists badges. `security-project`, one kind of project, is less likely the list of all.
  const modifiers = head.slice(0, Math.max(0, head.length - words.length));
  const rest = all.filter((word) => !words.includes(word));
  return { noun: words.join(''), weight: weight === 0 ? 0 : weight - modifiers.length * 3, rest };
}

function endsWith(words: readonly string[], phrase: readonly string[]): boolean {
  return words.slice(-phrase.length).join(' ') === phrase.join(' ');
}
