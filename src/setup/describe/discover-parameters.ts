import { compileExpression } from '../../core/mapping/expressions/expression.ts';
import { isToken, pageMembers } from '../guess/guess-paging.ts';
import { SPELLINGS } from '../guess/paging-names.ts';
import { type Listing, type Parameter, undocumented } from './listing.ts';
import { shapeOfValue } from './shape.ts';

/** What a platform answered. */
export interface Reply {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

/** Requests a path of a platform. Resolves with undefined if there was no reply, or no further request is allowed. */
export type Ask = (path: string, query?: Readonly<Record<string, string>>) => Promise<Reply | undefined>;

interface Page {
  readonly reply: Reply;
  /** Each as its JSON. */
  readonly items: readonly string[];
}

type Query = Readonly<Record<string, string>>;

/**
 * Adds the query parameters to a list that was seen. They are found by requests for pages of one item: a parameter that
 * changes nothing is ignored by the platform, and one that leads to the second item leads to the second page.
 */
export async function discoverParameters(ask: Ask, listing: Listing, body: unknown): Promise<Listing> {
  const { path, items } = listing;
  const read = (value: unknown) => {
    const found = compileExpression(items).evaluate(value ?? null);
    return (Array.isArray(found) ? found : []).map((item) => JSON.stringify(item));
  };
  const request = async (query: Query): Promise<Page | undefined> => {
    const reply = await ask(path, query);
    if (reply === undefined || reply.status !== 200 || reply.body === undefined) return undefined;
    return { reply, items: read(reply.body) };
  };
  const whole = read(body);
  if (whole.length < 2) return listing;
  const size = await firstOf(SPELLINGS.size, async (name) => (await request({ [name]: '1' }))?.items.length === 1);
  const one = size === undefined ? undefined : await request({ [size]: '1' });
  if (size === undefined || one === undefined) return listing;
  const leads = async (query: Query) => (await request({ [size]: '1', ...query }))?.items[0] === whole[1];
  const page = shapeOfValue(one.reply.body);
  const next = await discoverNext(page, leads);
  const parameters = [
    undocumented(size, 'size', { value: String(whole.length) }),
    ...(next === undefined ? [] : [next]),
  ];
  // In a page of one item, members and headers show that there is more.
  return { ...listing, body: page, headers: one.reply.headers, parameters };
}

/** Finds the parameter that leads from a page of one item to the second item. */
async function discoverNext(
  body: Listing['body'],
  leads: (query: Query) => Promise<boolean>,
): Promise<Parameter | undefined> {
  const [member] = pageMembers(body, 'token', (shape) => typeof shape.value === 'string' && isToken(shape));
  if (member !== undefined) {
    const token = await firstOf(SPELLINGS.token, (name) => leads({ [name]: String(member.shape.value) }));
    if (token !== undefined) return undocumented(token, 'token');
  }
  const offset = await firstOf(SPELLINGS.offset, (name) => leads({ [name]: '1' }));
  if (offset !== undefined) return undocumented(offset, 'offset');
  // If pages are counted from 0, page 1 is the second one.
  for (const firstPage of [1, 0]) {
    const page = await firstOf(SPELLINGS.page, (name) => leads({ [name]: String(firstPage + 1) }));
    if (page !== undefined) return undocumented(page, 'page', { minimum: firstPage });
  }
  return undefined;
}

/** Returns the first name that fits. Requests are sent one after the other, since platforms limit their rate. */
async function firstOf(
  names: readonly string[],
  fits: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const name of names) if (await fits(name)) return name;
  return undefined;
}
