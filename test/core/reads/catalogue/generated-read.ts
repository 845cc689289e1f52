import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createMapper } from '../../../../src/core/mapping/mapper.ts';
import { createPageParser } from '../../../../src/core/mapping/page.ts';
import { createLoader } from '../../../../src/core/reads/catalogue/loader.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import type { ListRequest } from '../../../../src/core/upstream/pagination/list-read.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { replyTo } from './generated-platform.ts';
import type { GeneratedRead } from './generated-settings.ts';
import { readAtOnce } from './read-at-once.ts';

const plain = { default: '', values: {}, format: 'none' } as const;
const map = createMapper({
  fields: { id: { ...plain, from: 'id' }, name: { ...plain, from: 'name' } },
  required: ['id', 'name'],
  invalidItems: 'fail',
});
const parse = createPageParser({ items: 'items' });
const loading = createLoading({ maxBytes: 1_000_000 });

/** The list of the platform, as settings ask for it. */
export function listOf({ pagination, query }: Pick<GeneratedRead, 'pagination' | 'query'>): ListRequest {
  return {
    baseUrl: 'https://platform.example',
    path: '/list',
    query,
    pagination,
    maxItems: 1000,
    maxPages: 100,
    maxNextBytes: 4096,
  };
}

/** What a read of a platform comes to under these settings: its items, or the error. */
export async function outcomeOf(read: GeneratedRead): Promise<unknown[] | GatewayError> {
  const { platform } = read;
  const list = listOf(read);
  let replies = 0;
  const load = createLoader({
    resource: 'things',
    upstream: {
      name: 'platform',
      async get({ target, read: readPage }) {
        replies += 1;
        const reply = replyTo(platform, target, replies);
        if (reply === undefined) throw new GatewayError('upstream_refused', { upstreamStatus: 400 });
        return { page: await readPage(Buffer.from(JSON.stringify(reply.body)), reply.headers), headers: reply.headers };
      },
      close: async () => {},
    },
    timeoutMs: 60_000,
    events: {},
    now: Date.now,
    list,
    maxReadBytes: 1_000_000,
    loading,
    readPage: readAtOnce({ list, maxPageValues: 10_000, parse, map, idsAreUnique: true }),
  });
  try {
    const { snapshot } = await load(callerWith(), new AbortController().signal);
    return JSON.parse(snapshot.bytes.toString()) as unknown[];
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
