import { GatewayError } from '../../core/kernel/errors.ts';
import type { Ask, ListEnd } from '../../core/upstream/paging/list-confirmation.ts';
import {
  endTestError,
  isNone,
  type ListRequest,
  mayRepeat,
  moreItemsError,
  sizeAsked,
  statesTotal,
} from '../../core/upstream/paging/list-read.ts';
import { firstAddress, namesTotal, type PageAddress, pageAddress } from '../../core/upstream/paging/page-address.ts';
import { hasOnlyIds, isFullPage, isTotalInBody, type RunExperiment } from './experiment.ts';
import { byNumber } from './number-experiments.ts';
import { leadsOn, unpaged } from './one-page-experiments.ts';

/** Bound on the requests for one list. */
const MAX_REQUESTS = 12;
/** A platform that does not accept the requested size or place. */
const REFUSED: readonly unknown[] = [400, 404, 405, 410, 414, 416, 422];
/** From here on, a round total may be a bound of the platform, such as 10,000. */
const CAPPED = 100;

/**
 * Tries whether a list has more items than were read. Resolves with whether anything could be shown: an empty list, for example,
 * shows nothing. Throws `upstream_invalid` if there is more.
 */
export async function findMore(end: ListEnd, ask: Ask): Promise<boolean> {
  const { list, first } = end;
  if (isProven(end)) return true;
  if (!mayRepeat(list)) return checkPost(end);
  let requests = 0;
  const attempt: RunExperiment = async (where) => {
    requests += 1;
    if (requests > MAX_REQUESTS) return undefined;
    const address = 'url' in where ? (where as PageAddress) : pageAddress(list, where as Record<string, number>);
    try {
      return await ask(address);
    } catch (error) {
      if (error instanceof GatewayError && isRefusal(error, list)) return undefined;
      throw error;
    }
  };
  try {
    return await tryPaging(end, attempt);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.upstreamStatus !== undefined) throw error;
    // A list that has other items by now shows nothing.
    const again = await attempt(firstAddress(list));
    if (again === undefined || (await hasOnlyIds(`${first.ids ?? ''}${end.lastPageIds}`, again))) throw error;
    return false;
  }
}

/**
 * Of a list by number, a refusal may show that settings are wrong. To parameters that it does not know, a platform may also reply
 * with 403, or with an error and status 200.
 */
function isRefusal({ code, upstreamStatus }: GatewayError, { pagination: { kind } }: ListRequest): boolean {
  if (REFUSED.includes(upstreamStatus)) return true;
  const isOther = upstreamStatus === undefined ? code === 'upstream_invalid' : upstreamStatus === 403;
  return isOther && kind !== 'offset' && kind !== 'page';
}

async function tryPaging(end: ListEnd, attempt: RunExperiment): Promise<boolean> {
  const { list, first } = end;
  const { pagination } = list;
  if (pagination.kind === 'offset' || pagination.kind === 'page') return byNumber(end, pagination, attempt);
  if (end.last !== first) return end.filled === 1 ? uselessToken(end, attempt) : true;
  // No platform has pages of one item by default.
  if (first.count < 2) return false;
  if (pagination.kind !== 'none' && (await leadsOn(end, attempt))) return true;
  return unpaged(end, attempt);
}

/** Whether a statement that cannot be the length of the page shows the end. A round total at the end of a full page does not. */
function isProven({ list, first, last, items, lastPageCount, filled }: ListEnd): boolean {
  const { kind } = list.pagination;
  const isFull = lastPageCount === first.count && lastPageCount > 0;
  // One that settings name ends the list; it may also be an estimate.
  const endsByTotal = (kind === 'offset' || kind === 'page') && namesTotal(list.pagination) && last !== first;
  const mayBeCapped = isFull && (endsByTotal || (items >= CAPPED && items % 50 === 0));
  // The total in the body of a page of the size that was asked for may be that size.
  const isAsked = isFullPage({ list, first, last });
  const totals = isAsked ? first.statements.filter((each) => !isTotalInBody(each)) : first.statements;
  if (!mayBeCapped && statesTotal({ ...first, statements: totals }, items)) return true;
  // These do not show that a list by number begins where it seems to.
  if (kind === 'offset' || kind === 'page') return false;
  if (last === first && (first.next === '' || first.next === false)) return true;
  // An empty page behind the first may be one that the platform did not understand.
  return (filled > 1 ? last : first).statements.some(
    ({ sign, stated, isCount }) =>
      ((sign === 'more' || sign === 'next') && stated === false) ||
      (sign === 'pages' && isCount !== true && stated === 1 && last === first),
  );
}

/** Without `retryPost`, nothing is tried: a full first page that shows no end is an error. */
function checkPost({ list, first, last }: ListEnd): boolean {
  const { kind, ignoreSigns } = list.pagination;
  const size = sizeAsked(list);
  const isOpen = kind === 'token' || kind === 'link' || kind === 'none';
  if (isOpen && last === first && first.count === size && ignoreSigns?.includes('fullPage') !== true) {
    throw moreItemsError(
      'fullPage',
      `${size} items were requested and received, and nothing shows that they are all`,
      'if the POST changes nothing, set retryPost: true, which allows more requests as a test',
    );
  }
  return true;
}

/** A list of which no token led to items (DynamoDB returns a key behind the last one): a shorter page must have one that does. */
async function uselessToken({ list, first }: ListEnd, attempt: RunExperiment): Promise<boolean> {
  const { pagination } = list;
  if (pagination.kind !== 'token' || pagination.sizeParam === null || first.count === 0) return false;
  const size = { [pagination.sizeParam]: first.count === 1 ? 2 : first.count - 1 };
  const other = await attempt(size);
  if (other === undefined) return true;
  const leads = other.count < first.count && !isNone(other.next);
  const rest = leads ? await attempt({ ...size, [pagination.tokenParam]: String(other.next) }) : undefined;
  if (other.count <= first.count && rest?.count !== 0) return true;
  throw endTestError(
    `the token of a first page of ${first.count} items leads to no others, but a request for ${Object.values(size)[0]} returned ${other.count}, followed by ${rest?.count ?? 'more'}`,
    'correct pagination.next (the token in the page), pagination.tokenParam (its parameter) or pagination.kind',
  );
}
