import { createConfirmations } from '../../../../src/capabilities/confirmation/confirmation.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import type { ListRequest } from '../../../../src/core/upstream/paging/list-read.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { replyTo } from './generated-platform.ts';
import type { GeneratedRead } from './generated-settings.ts';
import { listWith, loaderOver, mapperWith } from './loader-over.ts';

const map = mapperWith();
const loading = createLoading({ maxBytes: 1_000_000 });

/** The list of the platform, as settings ask for it. */
export function listOf({ pagination, query }: Pick<GeneratedRead, 'pagination' | 'query'>): ListRequest {
  return listWith({ path: '/list', query, pagination, maxPages: 100 });
}

/** What a read of a platform comes to under these settings: its items, or the error. */
export async function outcomeOf(read: GeneratedRead): Promise<unknown[] | GatewayError> {
  const { platform } = read;
  let replies = 0;
  const load = loaderOver(
    async ({ target }) => {
      replies += 1;
      const reply = replyTo(platform, target, replies);
      if (reply === undefined) throw new GatewayError('upstream_refused', { upstreamStatus: 400 });
      return { text: JSON.stringify(reply.body), headers: reply.headers };
    },
    {
      list: listOf(read),
      items: 'items',
      map,
      loading,
      idsAreUnique: true,
      confirmation: createConfirmations(Date.now)('things', ''),
    },
  );
  try {
    const { snapshot } = await load(callerWith(), new AbortController().signal);
    return JSON.parse(snapshot.bytes.toString()) as unknown[];
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
