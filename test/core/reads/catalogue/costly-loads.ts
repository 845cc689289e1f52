import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createPageTurns } from '../../../../src/core/reads/catalogue/page-reader.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { loaderOver } from './loader-over.ts';

/**
 * Loads 32 lists of three pages at once, whose pages take as much of the heap as they may, and tells how they end. A page is a
 * copy of its bytes, as one that comes over the network is.
 */
const beside = `,"beside":[${Array(124_000).fill('{}').join(',')}]}`;
/** The bounds that settings have by default, for all lists together. */
const bounds = {
  ...{ maxPageValues: 250_000, maxReadBytes: 67_108_864 },
  ...{ loading: createLoading({ maxBytes: 134_217_728 }), turns: createPageTurns() },
};
const outcomes: Record<string, number> = {};
await Promise.all(
  Array.from({ length: 32 }, async (_, list) => {
    let page = 0;
    const load = loaderOver(async ({ hold }) => {
      await new Promise(setImmediate);
      page += 1;
      const text = `{"things":[{"id":"${list} ${page}","name":"n"}],"next":"${page % 3 || ''}"${beside}`;
      hold?.(text.length);
      return { text };
    }, bounds);
    const outcome = await load(callerWith(), new AbortController().signal).then(
      () => 'whole',
      (error) => (error instanceof GatewayError ? `${error.code}: ${error.reason}` : String(error)),
    );
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }),
);
process.stdout.write(JSON.stringify(outcomes));
