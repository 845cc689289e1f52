import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import { type Parameter, type ParameterRole, undocumented } from '../describe/listing.ts';
import { membersOf, plainName, type Shape, shapeOfValue } from '../describe/shape.ts';
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
export function guessFromPage({ posted, count, ...page }: SeenPage): PagingGuess[] {
  const body = shapeOfValue(page.body);
  const headers = new Map(Object.entries(page.headers).map(([name, value]) => [name, [value ?? ''].flat().join()]));
  const parameters = posted === undefined ? inferParameters(body, headers) : placesIn(posted);
  const list = { body, headers, parameters, count };
  const guesses = guessPaging(list);
  if (guesses.length > 0 || posted !== undefined || (totalOf(list)?.value ?? 0) <= count) return guesses;
  // The total is all that shows further pages: the usual parameters are tried.
  const usual = [parameter('offset', 'offset'), parameter('page', 'page', 1)];
  return usual.flatMap((each) => guessPaging({ ...list, parameters: [each] }));
}

/** Infers the query parameters of a list from its first page, whose members mostly have the names of parameters. */
function inferParameters(body: Shape, headers: ReadonlyMap<string, string>): Parameter[] {
  const [link] = pageMembers(body, 'link', isLink);
  const linked = sizeIn(headers.get('link') ?? '') ?? sizeIn(String(link?.shape.value ?? ''));
  const shown = (role: ParameterRole) => {
    const [member] = pageMembers(body, role, (shape) => SHOWN[role](shape));
    return member === undefined ? [] : [parameter(parameterFor(member.path), role, member.shape.value)];
  };
  const size = linked === undefined ? shown('size') : [linked];
  return [...size, ...shown('token'), ...shown('offset'), ...shown('page')];
}

/** Whether a member of a first page can hold the value of a parameter. */
const SHOWN: Readonly<Record<ParameterRole, (shape: Shape) => boolean>> = {
  size: ({ value }) => isSize(value),
  token: isToken,
  offset: ({ value }) => value === 0,
  page: ({ value }) => value === 0 || value === 1,
};

/** Returns the parameters of a list that is posted for: places in the body, as JSON pointers (RFC 6901). */
function placesIn(posted: unknown): Parameter[] {
  const scalars = membersOf(shapeOfValue(posted)).filter(({ shape }) => shape.value !== undefined);
  return (['size', 'token', 'offset', 'page'] as const).flatMap((role) => {
    const [found] = PARAMETERS[role].flatMap((name) => scalars.filter(({ path }) => plainName(path.at(-1)) === name));
    if (found === undefined) return [];
    const pointer = found.path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    return [parameter(pointer, role, found.shape.value)];
  });
}

/** A parameter, and the value that it had for the first page: the largest size, or the number of the first page. */
function parameter(name: string, role: ParameterRole, value?: unknown): Parameter {
  if (role === 'size' && isSize(value)) return undocumented(name, role, { maximum: Number(value) });
  if (role === 'page' && (value === 0 || value === 1)) return undocumented(name, role, { minimum: value });
  return undocumented(name, role);
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_SIZE;
}

/** Returns the parameter for the page size in a link, with its value. */
function sizeIn(link: string): Parameter | undefined {
  const [, query = ''] = /\?([^#>\s]*)/.exec(link) ?? [];
  const pairs = [...new URLSearchParams(query)];
  const found = pairs.find(([name, value]) => PARAMETERS.size.includes(plainName(name)) && isSize(Number(value)));
  return found && parameter(found[0], 'size', Number(found[1]));
}
