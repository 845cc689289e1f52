import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import { type PagedList, type Parameter, type ParameterRole, undocumented } from '../describe/listing.ts';
import { type Member, membersOf, plainName, type Shape, shapeOfValue } from '../describe/shape.ts';
import { guessPaging, isLink, isToken, type PagingGuess, pageMembers, totalOf } from './guess-paging.ts';
import { PARAMETERS, parameterFor } from './paging-names.ts';

const MAX_SIZE = 100_000;

/** The first page of a list, as a platform sent it. */
export interface SeenPage {
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: ReplyHeaders;
  /** Number of its items. */
  readonly count: number;
  /** The JSON that was posted for it. Undefined for a GET. */
  readonly posted?: unknown;
}

/** Guesses how a list is paged by its first page, without a document, the surest guess first. */
export function guessFromPage({ posted, ...page }: SeenPage): PagingGuess[] {
  const body = shapeOfValue(page.body);
  const headers = new Map(Object.entries(page.headers).map(([name, value]) => [name, [value ?? ''].flat().join()]));
  const parameters = posted === undefined ? inferParameters(body, headers) : placesIn(posted);
  const list = { body, headers, parameters, count: page.count };
  const guesses = guessPaging(list);
  return guesses.length > 0 || posted !== undefined ? guesses : guessUnnamed(list);
}

/** Guesses the usual parameters for a list whose total is all that shows further pages. */
function guessUnnamed(list: PagedList): PagingGuess[] {
  const total = totalOf(list);
  if (total?.value === undefined || total.value <= (list.count ?? 0)) return [];
  const usual = [undocumented('offset', 'offset'), undocumented('page', 'page', { minimum: 1 })];
  return usual.flatMap((parameter) => guessPaging({ ...list, parameters: [parameter] }));
}

/** Infers the query parameters of a list from its first page, whose members mostly have the names of parameters. */
function inferParameters(body: Shape, headers: ReadonlyMap<string, string>): Parameter[] {
  const [link] = pageMembers(body, 'link', isLink);
  const linked = sizeIn(headers.get('link') ?? '') ?? sizeIn(String(link?.shape.value ?? ''));
  const [size] = pageMembers(body, 'size', ({ value }) => isSize(value));
  const [token] = pageMembers(body, 'token', isToken);
  const [offset] = pageMembers(body, 'offset', ({ value }) => value === 0);
  const [page] = pageMembers(body, 'page', ({ value }) => value === 0 || value === 1);
  return [
    linked ?? (size && named(size, 'size', { maximum: Number(size.shape.value) })),
    token && named(token, 'token'),
    offset && named(offset, 'offset'),
    page && named(page, 'page', { minimum: Number(page.shape.value) }),
  ].flatMap((parameter) => parameter ?? []);
}

function named({ path }: Member, role: ParameterRole, known: Parameters<typeof undocumented>[2] = {}): Parameter {
  return undocumented(parameterFor(path), role, known);
}

/** Returns the parameters of a list that is posted for: places in the body, as JSON pointers (RFC 6901). */
function placesIn(posted: unknown): Parameter[] {
  const scalars = membersOf(shapeOfValue(posted)).filter(({ shape }) => shape.value !== undefined);
  return (['size', 'token', 'offset', 'page'] as const).flatMap((role) => {
    const [found] = PARAMETERS[role].flatMap((name) => scalars.filter(({ path }) => plainName(path.at(-1)) === name));
    if (found === undefined) return [];
    const pointer = found.path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const { value } = found.shape;
    const isFirst = role === 'page' && (value === 0 || value === 1);
    const known = role === 'size' && isSize(value) ? { maximum: Number(value) } : isFirst ? { minimum: value } : {};
    return [undocumented(pointer, role, known)];
  });
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_SIZE;
}

/** Returns the parameter for the page size in a link, with its value. */
function sizeIn(link: string): Parameter | undefined {
  const [, query = ''] = /\?([^#>\s]*)/.exec(link) ?? [];
  const pairs = [...new URLSearchParams(query)];
  const found = pairs.find(([name, value]) => PARAMETERS.size.includes(plainName(name)) && isSize(Number(value)));
  return found && undocumented(found[0], 'size', { maximum: Number(found[1]) });
}
