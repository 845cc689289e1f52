import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { Confirmation } from '../../../../src/core/upstream/paging/list-confirmation.ts';
import { type ListRequest, summarize, textDigestsOf } from '../../../../src/core/upstream/paging/list-read.ts';
import type { Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { firstTarget, paginate } from '../../../../src/core/upstream/paging/paginate.ts';
import type { PageTarget, ReplyHeaders } from '../../../../src/core/upstream/upstream.ts';

export type Query = (name: string) => number | undefined;

/** What a platform replies: items of its list from one up to another, with members beside them; or a status. */
export type Reply =
  | {
      readonly from?: number;
      readonly to: number;
      readonly statements?: object;
      readonly headers?: ReplyHeaders;
      /** @default each item has an id of its own */
      readonly idOf?: (item: number) => string;
      /** @default with `idOf` */
      readonly idsMayRepeat?: boolean;
    }
  | number;

interface Outcome {
  /** Items of the list that was read; or why it is invalid, or the code of another error. */
  readonly result: number | string;
  readonly targets: readonly string[];
}

/** Reads the list of a platform that replies so, and confirms it, if that is given. */
export async function readList(
  pagination: Pagination,
  reply: (query: Query) => Reply,
  more: Partial<ListRequest> = {},
  confirmation?: Confirmation,
): Promise<Outcome> {
  const targets: string[] = [];
  const list: ListRequest = {
    baseUrl: 'https://platform.example',
    path: '/list',
    query: {},
    pagination,
    maxItems: 1000,
    maxPages: 1000,
    maxNextBytes: 4096,
    ...more,
  };
  const fetchPage = async ({ target }: PageTarget) => {
    targets.push(target);
    const { searchParams } = new URL(target, list.baseUrl);
    const replied = reply((name) => (searchParams.has(name) ? Number(searchParams.get(name)) : undefined));
    // An error with status 200.
    if (replied === 200) throw new GatewayError('upstream_invalid');
    if (typeof replied === 'number') throw new GatewayError('upstream_refused', { upstreamStatus: replied });
    const from = replied.from ?? 0;
    const items = Array.from({ length: Math.max(0, replied.to - from) }, (_, index) => `${from + index}`);
    const body = { items, ...replied.statements };
    const view = summarize(pagination, {
      body,
      items,
      headers: replied.headers ?? {},
      enclosing: [{ fields: [], value: body }],
    });
    const ids = textDigestsOf(items.map((item) => replied.idOf?.(Number(item)) ?? item));
    const { idOf, idsMayRepeat = idOf !== undefined } = replied;
    return { ...view, ids, digests: idOf && textDigestsOf(items), idsMayRepeat };
  };
  const { signal } = new AbortController();
  try {
    let result = 0;
    const first = await fetchPage(firstTarget(list));
    for await (const { count } of paginate(list, first, fetchPage, signal, confirmation)) result += count;
    return { result, targets };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return {
      result: error.code === 'upstream_invalid' ? String(error.reason) : `${error.code}: ${error.reason}`,
      targets,
    };
  }
}
