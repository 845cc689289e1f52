import type { GatewayError } from '../../core/kernel/errors.ts';
import { nextOf } from '../../core/upstream/paging/by-next.ts';
import type { ListEnd } from '../../core/upstream/paging/list-confirmation.ts';
import {
  endTestError,
  isNone,
  isSize,
  type ListRequest,
  moreItemsError,
  type PageSummary,
  sizeAsked,
} from '../../core/upstream/paging/list-read.ts';
import { firstAddressOf } from '../../core/upstream/paging/page-address.ts';
import { hasOnlyIds, isTotalInBody, type RunExperiment } from './experiment.ts';
import { PAIRS, type Place, pairParameters, tokenParameters, usualParameters } from './usual-parameters.ts';

const CURE = 'set pagination.kind and its keys to the pagination of the platform';

/** Tries whether a shorter first page leads on as settings expect. Resolves with `false` if it has the same length. */
export async function leadsOn({ list, first }: ListEnd, attempt: RunExperiment): Promise<boolean> {
  const { pagination } = list;
  if (pagination.kind !== 'token' && pagination.kind !== 'link') return false;
  if (pagination.sizeParam === null) return false;
  const { count } = first;
  const ofSize = (size: number) => attempt(firstAddressOf(list, { ...pagination, size }));
  let reply = await ofSize(count - 1);
  // Some platforms accept certain sizes only.
  for (const size of [50, 25, 10]) if (size < count && count === pagination.size) reply ??= await ofSize(size);
  if (reply === undefined || reply.count === count) {
    if (count !== pagination.size) return false;
    throw full(count);
  }
  if (reply.count > count) throw more(`a request for fewer returned ${reply.count}`, count);
  const hasNext = pagination.kind === 'token' ? !isNone(reply.next) : nextOf(reply, pagination) !== undefined;
  const totals = [Number(reply.total ?? 0), ...reply.statements.filter(isTotalInBody).map(({ stated }) => stated)];
  if (hasNext || totals.includes(count)) return true;
  throw endTestError(
    `the first page has ${count} items and leads to no other, but neither does one of ${reply.count}, of which that is known to be wrong`,
    pagination.kind === 'token' ? `correct pagination.next and pagination.tokenParam, or ${CURE}` : CURE,
  );
}

/** Tries a list of one page as platforms usually page theirs: the place behind it, a smaller and a larger size. */
export async function unpaged({ list, first }: ListEnd, attempt: RunExperiment): Promise<boolean> {
  const { count } = first;
  const own = ownSize(list);
  const sized = (size: number) => (own === undefined ? {} : { [own]: size });
  for (const { token } of first.statements) {
    if (token === undefined) continue;
    await expectNoOthers(await attempt(tokenParameters(token)), first, 'with the token in its reply');
  }
  const usual = (place: Place) => attempt({ ...usualParameters(place), ...sized(place.size ?? count) });
  const behind = await usual({ size: count, offset: count, page: 2 });
  if (behind === undefined) {
    for (const pair of PAIRS)
      await expectNoOthers(await attempt(pairParameters(pair, count)), first, `under ${pair.join(' and ')}`);
  } else {
    await expectNoOthers(behind, first, 'behind it, under the usual names');
    // The caller may see none of the second page.
    if (behind.count === 0)
      await expectNoOthers(await usual({ size: count, offset: 2 * count, page: 3 }), first, 'one page further');
  }
  const smaller =
    (await usual({ size: count - 1 })) ?? (own === undefined ? undefined : await attempt(sized(count - 1)));
  const isSized = smaller !== undefined && smaller.count < count;
  if (!isSized && count === sizeAsked(list)) throw full(count);
  if (!isSized && (behind === undefined || behind.count === count)) return true;
  const pageOne = behind && (await usual({ size: count, page: 1 }));
  await expectNoOthers(pageOne, first, 'for page 1');
  if (!isSized) return true;
  const larger = await usual({ size: count * 2 });
  await expectNoOthers(larger, first, 'of twice the size');
  if (count === 2) await expectNoOthers(await usual({ size: 2, offset: 1 }), first, 'from the second item on');
  // An empty page behind it shows nothing unless the place of the last item is understood, too.
  if (behind?.count === 0) {
    const isLast = async (size: number, page: number) => {
      const last = await usual({ size, offset: count - 1, page });
      // A page number under the name of an offset leads to others.
      await expectNoOthers(last, first, 'for the last item');
      return last?.count === 1 && (last.ids === undefined || first.ids?.endsWith(last.ids) === true);
    };
    if ((await isLast(count - 1, 2)) && (await isLast(1, count))) return true;
    // Pages counted from 0: page 1 of a whole list is empty.
    if (!pageOne?.count && (await isLast(count - 1, 1)) && (await isLast(1, count - 1))) return true;
  }
  // Otherwise a name may be that of a filter.
  if (smaller.count === count - 1 || larger?.count === count) expectShown(smaller, count);
  return true;
}

/** The parameter of the size in settings. */
function ownSize({ pagination, query }: ListRequest): string | undefined {
  if (pagination.kind !== 'none') return pagination.sizeParam ?? undefined;
  return Object.entries(query).find(isSize)?.[0];
}

/** Throws for a shorter page that does not show that there is more: then the whole one would not either. */
function expectShown(smaller: PageSummary, count: number): void {
  const isShown = smaller.statements.some(
    ({ sign, stated }) =>
      (sign === 'total' && Number(stated) === count) || ((sign === 'next' || sign === 'more') && stated === true),
  );
  if (!isShown)
    throw more(`a request with a page size of ${count - 1} returned ${smaller.count}, and shows no more`, count);
}

async function expectNoOthers(
  reply: PageSummary | undefined,
  { ids = '', count }: PageSummary,
  where: string,
): Promise<void> {
  if (reply === undefined || reply.count === 0 || (await hasOnlyIds(ids, reply))) return;
  throw more(`a request ${where} returned ${reply.count} items, others among them`, count);
}

function full(count: number): GatewayError {
  return moreItemsError('fullPage', `${count} items were requested and received, and nothing shows that they are all`);
}

function more(what: string, count: number): GatewayError {
  return endTestError(`the list has ${count} items, but ${what}, so the list is paged`, CURE);
}
