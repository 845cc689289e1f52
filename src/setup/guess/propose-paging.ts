import type { Listing } from '../describe/listing.ts';
import { expressionOf } from '../describe/shape.ts';
import {
  guessPaging,
  type PagingGuess,
  pageMembers,
  parameterOf,
  SIZE,
  STRICTEST,
  type Total,
  totalOf,
} from './guess-paging.ts';
import { PAGE_WORDS } from './paging-names.ts';

/** Page size that every platform allows that has a parameter for it. */
const CERTAIN_SIZE = 10;

/** Usual page sizes: so many items can be a full page. */
const USUAL_SIZES = new Set([10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 150, 200, 250, 300, 500, 1000]);

const HOW = 'how the platform pages this list';

/** Proposes the surest way of paging that is not short without an error, or a setting that fails on a full page. */
export function proposePaging(listing: Listing): PagingGuess {
  return guessPaging(listing)[0] ?? withoutNext(listing, totalOf(listing));
}

function withoutNext(listing: Listing, total: Total | undefined): PagingGuess {
  const size = parameterOf(listing, 'size');
  if (size !== undefined) {
    // A page as long as requested, without a link to a next one, is an error, so that the list is never short. The size has
    // to be one that the platform allows for certain: a page that it cuts would look like the last.
    const known = size.maximum ?? Number(size.value ?? CERTAIN_SIZE);
    const certain = Number.isInteger(known) && known >= 1 ? Math.min(known, SIZE) : CERTAIN_SIZE;
    const pagination = { kind: 'link', sizeParam: size.name, size: certain, ...total?.setting };
    const why = `the parameter ${size.name} is the size of a page, and nothing leads to the second page`;
    return { pagination, why, doubts: [`${HOW}: until then a full page without a Link header is an error`] };
  }
  const token = parameterOf(listing, 'token');
  const [next] = pageMembers(listing.body, 'token', ({ type }) => type === 'text' || type === 'number');
  if (token !== undefined || next !== undefined) {
    const found = token === undefined ? `a member ${expressionOf(next?.path ?? [])}` : `a parameter ${token.name}`;
    return undecided(`there is ${found}, and nothing else that leads to the second page`);
  }
  if (listing.count !== undefined) return seenWhole(listing.count, total?.value);
  if (total !== undefined) {
    const why = `${total.why}, and nothing leads to a second page`;
    const doubts = [`${HOW}: until then fewer items than the total are an error`];
    return { pagination: { ...STRICTEST, ...total.setting }, why, doubts };
  }
  const other = listing.parameters.find((each) => PAGE_WORDS.test(each.name));
  if (other !== undefined) return undecided(`the parameter ${other.name} seems to concern pages`);
  return { pagination: { kind: 'none' }, why: 'no parameter and no member of the reply concerns pages', doubts: [] };
}

/** Proposes a setting for a list whose reply no known parameter changes. */
function seenWhole(count: number, total: number | undefined): PagingGuess {
  if (count < 2) return undecided(`${count === 1 ? 'one item is' : 'no items are'} too few to recognize pages`);
  const why = `no parameter that was tried changes the ${count} items`;
  if (total !== undefined && total > count) return undecided(`${why} of ${total}`);
  if (USUAL_SIZES.has(count)) return undecided(`${why}, which can be a full page`);
  return { pagination: { kind: 'none' }, why, doubts: ['whether the whole list is one page'] };
}

function undecided(why: string): PagingGuess {
  return { pagination: STRICTEST, isUnsafe: true, why, doubts: [HOW] };
}
