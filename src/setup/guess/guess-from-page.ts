import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import { type Parameter, undocumented } from '../describe/listing.ts';
import { type Shape, shapeOfValue } from '../describe/shape.ts';
import { guessPaging, isToken, type PagingGuess, pageMembers, totalOf } from './guess-paging.ts';
import { parameterFor } from './paging-names.ts';

export interface SeenPage {
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: ReplyHeaders;
  readonly count: number;
}

/** Guesses how a list is paged by its first page, without a document, the surest guess first. */
export function guessFromPage({ count, ...page }: SeenPage): PagingGuess[] {
  const body = shapeOfValue(page.body);
  const headers = new Map(Object.entries(page.headers).map(([name, value]) => [name, [value ?? ''].flat().join()]));
  const list = { body, headers, parameters: inferParameters(body), count };
  const guesses = guessPaging(list);
  if (guesses.length > 0 || (totalOf(list)?.value ?? 0) <= count) return guesses;
  // The total is all that shows further pages: the usual parameters are tried.
  const usual = [undocumented('offset', 'offset'), undocumented('page', 'page', { minimum: 1 })];
  return usual.flatMap((each) => guessPaging({ ...list, parameters: [each] }));
}

/** By the role of a parameter, whether a member of a first page can hold its value. */
const SHOWN = {
  token: isToken,
  offset: ({ value }: Shape) => value === 0,
  page: ({ value }: Shape) => value === 0 || value === 1,
};

/** Infers the query parameters of a list from its first page, whose members mostly have the names of parameters. */
function inferParameters(body: Shape): Parameter[] {
  return (['token', 'offset', 'page'] as const).flatMap((role) => {
    const [member] = pageMembers(body, role, SHOWN[role]);
    if (member === undefined) return [];
    const known = role === 'page' ? { minimum: Number(member.shape.value) } : {};
    return [undocumented(parameterFor(member.path), role, known)];
  });
}
