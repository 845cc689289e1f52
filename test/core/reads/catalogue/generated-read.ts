import { hash } from 'node:crypto';
import { createConfirmations } from '../../../../src/capabilities/confirmation/confirmation.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { MapperOptions } from '../../../../src/core/mapping/mapper.ts';
import { createJoinedLoader, PARENT_ITEM, type Parent } from '../../../../src/core/reads/catalogue/joined-lists.ts';
import type { Loader } from '../../../../src/core/reads/snapshots/load.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import { type Confirmation, oneOfMany } from '../../../../src/core/upstream/paging/list-confirmation.ts';
import type { ListRequest } from '../../../../src/core/upstream/paging/list-read.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { type GeneratedPlatform, itemsOf, replyTo } from './generated-platform.ts';
import type { GeneratedJoin, GeneratedRead } from './generated-settings.ts';
import { field, listWith, loaderOver, mapperWith } from './loader-over.ts';

/** Fields of parents. */
const PARENT: Partial<MapperOptions> = {
  fields: { id: field('id'), [PARENT_ITEM]: field('to_string(@)') },
  required: ['id', PARENT_ITEM],
};
const loading = createLoading({ maxBytes: 1_000_000 });

/** The list of the platform, as settings ask for it. */
export function listOf({ pagination, query }: Pick<GeneratedRead, 'pagination' | 'query'>): ListRequest {
  return listWith({ path: '/list', query, pagination, maxPages: 200 });
}

function loaderOf(
  read: GeneratedRead,
  confirmation: Confirmation,
  rest: Partial<MapperOptions> = {},
  platformNow = () => read.platform,
): Loader {
  const { excluded, duplicateIds = 'fail', invalidItems = 'fail' } = read;
  const where = excluded && `!contains(\`${JSON.stringify(excluded)}\`, id)`;
  let replies = 0;
  return loaderOver(
    async ({ target, ifNoneMatch }) => {
      replies += 1;
      const reply = replyTo(platformNow(), target, replies);
      if (reply === undefined) throw new GatewayError('upstream_refused', { upstreamStatus: 400 });
      const text = JSON.stringify(reply.body);
      const headers = { ...reply.headers, etag: `"${hash('sha256', text)}"` };
      return ifNoneMatch === headers.etag ? { headers } : { text, headers };
    },
    {
      list: listOf(read),
      items: 'items',
      map: mapperWith({ where, invalidItems, ...rest }),
      loading,
      rules: { duplicateIds },
      idsAreUnique: duplicateIds !== 'allow',
      confirmation,
    },
  );
}

/** The items that a read should come to. */
export function keptOf({
  platform,
  excluded = [],
  later = platform.count,
}: GeneratedRead): readonly { readonly id: string }[] {
  const items = itemsOf({ ...platform, count: later });
  return items.filter(({ id, name }) => name !== undefined && !excluded.includes(id));
}

/** What a read of a platform comes to under these settings: its items, or the error; of two reads, the second. */
export async function outcomeOf(read: GeneratedRead): Promise<unknown[] | GatewayError> {
  let { platform } = read;
  const load = loaderOf(read, createConfirmations(Date.now)('things', ''), {}, () => platform);
  return outcomeOfLoad(async (caller, signal) => {
    const previous = await load(caller, signal);
    if (read.later === undefined) return previous;
    platform = { ...platform, count: read.later };
    return load(caller, signal, { previous });
  });
}

/** The read of each parent's list. */
export function childrenOf({ parents, child, counts }: GeneratedJoin): readonly [id: string, GeneratedRead][] {
  return keptOf(parents).map(({ id }, index) => {
    const platform: GeneratedPlatform = { ...child.platform, count: counts[index] ?? child.platform.count };
    return [id, { ...child, platform }];
  });
}

/** The items of all, whose ids are joined with those of their parents where several have them. */
export function joinedItemsOf(join: GeneratedJoin): unknown[] {
  const lists = childrenOf(join).map(([parent, read]) => ({ parent, items: keptOf(read) }));
  const timesOf = (id: string) => lists.filter(({ items }) => items.some((item) => item.id === id)).length;
  return lists.flatMap(({ parent, items }) =>
    items.map((item) => (timesOf(item.id) > 1 ? { ...item, id: `${parent}/${item.id}` } : item)),
  );
}

/** What a read of all lists comes to. */
export async function joinedOutcomeOf(join: GeneratedJoin): Promise<unknown[] | GatewayError> {
  const open = createConfirmations(Date.now);
  const children = new Map(childrenOf(join));
  const ofParent = (parent: Parent | undefined) => {
    const read = children.get(String(parent?.['id']));
    if (read === undefined) return async () => Promise.reject(new GatewayError('upstream_refused'));
    return loaderOf(read, oneOfMany(open('children', '')));
  };
  return outcomeOfLoad(
    createJoinedLoader({
      ...{
        resource: 'things',
        upstream: 'platform',
        timeoutMs: 60_000,
        concurrency: 3,
        maxItems: 10_000,
        maxPages: 10_000,
        maxReadBytes: 1_000_000,
        loading,
        triesParents: true,
      },
      parents: { open: () => loaderOf(join.parents, open('parents', ''), PARENT), max: 100 },
      lists: [{ open: (_events, parent) => ofParent(parent) }],
      ...{ rules: { duplicateIds: join.child.duplicateIds }, events: {}, now: Date.now },
    }),
  );
}

async function outcomeOfLoad(load: Loader): Promise<unknown[] | GatewayError> {
  try {
    const { snapshot } = await load(callerWith(), new AbortController().signal);
    return JSON.parse(snapshot.bytes.toString()) as unknown[];
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
