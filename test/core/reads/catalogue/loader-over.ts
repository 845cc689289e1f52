import { createMapper, type MapperOptions } from '../../../../src/core/mapping/mapper.ts';
import { createPageParser } from '../../../../src/core/mapping/page.ts';
import { createComparison } from '../../../../src/core/reads/catalogue/list-checks.ts';
import { createLoader, type LoaderOptions } from '../../../../src/core/reads/catalogue/loader.ts';
import {
  createPageReader,
  createPageTurns,
  type PageReaderOptions,
  type PageTurns,
} from '../../../../src/core/reads/catalogue/page-reader.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import type { ListRequest } from '../../../../src/core/upstream/paging/list-read.ts';
import type { PageRequest, ReplyHeaders } from '../../../../src/core/upstream/upstream.ts';

export const field = (from: string) => ({ from, default: '', values: {}, format: 'none' }) as const;

/** Pages that name the token of the next one. */
export const TOKEN = {
  kind: 'token',
  sizeParam: null,
  size: 2,
  tokenParam: 'token',
  next: (body: unknown) => (body as { next?: unknown }).next,
} as const;

/** The list of a platform, by tokens unless told otherwise. */
export const listWith = (rest: Partial<ListRequest> = {}): ListRequest => ({
  baseUrl: 'https://platform.example',
  path: '/things',
  query: {},
  pagination: TOKEN,
  maxItems: 1000,
  maxPages: 10,
  maxNextBytes: 4096,
  ...rest,
});

/** Maps items to their id and name. */
export const mapperWith = (rest: Partial<MapperOptions> = {}) =>
  createMapper({
    fields: { id: field('id'), name: field('name') },
    required: ['id', 'name'],
    invalidItems: 'fail',
    ...rest,
  });

/** How an upstream answers; without a text, it says that the page is still what it was. */
export type Answer = (
  request: Omit<PageRequest<unknown>, 'read'>,
  signal: AbortSignal,
) => Promise<{ readonly text?: string; readonly headers?: ReplyHeaders }>;

type Overrides = Partial<Omit<LoaderOptions, 'upstream' | 'readPage'>> &
  Partial<Pick<PageReaderOptions, 'map' | 'idsAreUnique' | 'maxPageValues'>> & {
    readonly items?: string;
    readonly turns?: PageTurns;
  };

/** A loader of the things of an upstream that answers each request as told; pages are read at once, whatever their size. */
export function loaderOver(answer: Answer, overrides: Overrides = {}) {
  const { items = 'things', map = mapperWith(), idsAreUnique, list = listWith(), maxPageValues = 10_000 } = overrides;
  const { turns = createPageTurns(), ...rest } = overrides;
  const readPage = createPageReader(
    {
      ...{ list, map, parse: createPageParser({ items }), maxPageValues },
      ...(idsAreUnique !== undefined && { idsAreUnique }),
    },
    turns,
  );
  return createLoader({
    resource: 'things',
    upstream: {
      name: 'platform',
      async get({ read, ...request }, signal) {
        const { text, headers = {} } = await answer(request, signal);
        return { page: text === undefined ? undefined : await read(Buffer.from(text), headers), headers };
      },
      close: async () => {},
    },
    list,
    readPage: async (page) => readPage(page),
    ...{ timeoutMs: 60_000, maxReadBytes: 1_000_000, loading: createLoading({ maxBytes: 1_000_000 }) },
    rules: {},
    compare: createComparison(1).bind(undefined, 'things'),
    ...{ events: {}, now: Date.now, ...rest },
  });
}
