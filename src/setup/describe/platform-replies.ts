import { compileExpression } from '../../core/mapping/expressions/expression.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { guessFields, hasIdAndName } from '../guess/guess-fields.ts';
import { guessItems, isInDoubt } from '../guess/guess-items.ts';
import { isToken, pageMembers } from '../guess/guess-paging.ts';
import { SPELLINGS } from '../guess/paging-names.ts';
import { LIKELY, vocabularyOf } from '../guess/vocabulary.ts';
import { type Listing, lastName, type Parameter, type ParameterRole, undocumented } from './listing.ts';
import { type Shape, shapeOfValue } from './shape.ts';

export interface Reply {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

interface Seen {
  readonly listing: Listing;
  readonly body: unknown;
}

type Query = Readonly<Record<string, string>>;

/** Requests a path of a platform. Resolves with undefined if there was no reply, or no further request is allowed. */
export type Ask = (path: string, query?: Query) => Promise<Reply | undefined>;

/** Finds the list at `path`, or else those below `path` that have usual names, and items with an id and a name. */
export async function findListings(ask: Ask, path: string, resources: readonly Resource[]): Promise<Listing[]> {
  const named = await readListing(ask, path);
  if (named !== undefined) return [await discoverParameters(ask, named)];
  const listings: Listing[] = [];
  for (const resource of resources) {
    for (const name of usualNames(resource)) {
      const found = await readListing(ask, `${path.replace(/\/$/, '')}/${name}`);
      if (found === undefined || !hasIdAndName(guessFields(resource, found.listing.item, ''))) continue;
      listings.push(await discoverParameters(ask, found));
      break;
    }
  }
  return listings;
}

function usualNames(resource: Resource): string[] {
  const likely = Object.entries(vocabularyOf(resource)).filter(([, weight]) => weight >= LIKELY);
  const plurals = likely.map(([phrase]) => phrase.replaceAll(' ', '-').replace(/y$/, 'ie').concat('s'));
  return [...new Set([resource.name, ...plurals])];
}

/** Requests a path and describes the list in the reply. Undefined if there is none. */
async function readListing(ask: Ask, path: string): Promise<Seen | undefined> {
  const reply = await ask(path);
  if (reply?.status !== 200 || reply.body === undefined) return undefined;
  const body = shapeOfValue(reply.body);
  const guesses = guessItems(body, lastName(path));
  const [found] = guesses;
  if (found === undefined) return undefined;
  const { items, item, count = 0 } = found;
  const unknown = { title: '', parameters: [], security: [] };
  const place = { path, items, itemsInDoubt: isInDoubt(guesses) };
  return { listing: { ...unknown, ...place, item, body, headers: reply.headers, count }, body: reply.body };
}

/** Finds the query parameters by requests for pages of one item: one that leads to the second item leads to the second page. */
async function discoverParameters(ask: Ask, { listing, body }: Seen): Promise<Listing> {
  const select = compileExpression(listing.items);
  const itemsOf = (value: unknown) => {
    const found = select.evaluate(value ?? null);
    return (Array.isArray(found) ? found : []).map((item) => JSON.stringify(item));
  };
  const request = async (query: Query) => {
    const reply = await ask(listing.path, query);
    return reply?.status === 200 ? { ...reply, items: itemsOf(reply.body) } : undefined;
  };
  const all = itemsOf(body);
  if (all.length < 2) return listing;
  for (const size of SPELLINGS.size) {
    const one = await request({ [size]: '1' });
    if (one?.items.length !== 1) continue;
    const page = shapeOfValue(one.body);
    const leads = async (query: Query) => (await request({ [size]: '1', ...query }))?.items[0] === all[1];
    const parameters = [undocumented(size, 'size', { value: `${all.length}` }), ...(await discoverNext(page, leads))];
    // In a page of one item, members and headers show that there is more.
    return { ...listing, body: page, headers: one.headers, parameters };
  }
  return listing;
}

/** Finds the parameter that leads from a page of one item to the second item, with one request after the other. */
async function discoverNext(page: Shape, leads: (query: Query) => Promise<boolean>): Promise<Parameter[]> {
  const [token] = pageMembers(page, 'token', (shape) => typeof shape.value === 'string' && isToken(shape));
  const trials: readonly (readonly [ParameterRole, value: string, firstPage?: number])[] = [
    ...(token === undefined ? [] : [['token', String(token.shape.value)] as const]),
    ['offset', '1'],
    ['page', '2', 1],
    // If pages are counted from 0, page 1 is the second one.
    ['page', '1', 0],
  ];
  for (const [role, value, minimum] of trials) {
    for (const name of SPELLINGS[role]) {
      if (await leads({ [name]: value })) return [undocumented(name, role, { minimum })];
    }
  }
  return [];
}
