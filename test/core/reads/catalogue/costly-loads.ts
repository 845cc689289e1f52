import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { corpusLoaders } from './corpus-loader.ts';

/**
 * Loads 32 lists of three pages at once, whose pages take as much of the heap as they may, and tells how they end. A page is a
 * copy of its bytes, as one that comes over the network is.
 */
const beside = Buffer.from(`,"beside":[${Array(124_000).fill('{}').join(',')}]}`);
const { loaderOf } = corpusLoaders();
const outcomes: Record<string, number> = {};
await Promise.all(
  Array.from({ length: 32 }, async (_, list) => {
    let page = 0;
    const load = loaderOf(() => {
      page += 1;
      return Buffer.concat([
        Buffer.from(`{"things":[{"id":"${list} ${page}","name":"n"}],"next":"${page % 3 || ''}"`),
        beside,
      ]);
    });
    const outcome = await load(callerWith(), new AbortController().signal).then(
      () => 'whole',
      (error) => (error instanceof GatewayError ? `${error.code}: ${error.reason}` : String(error)),
    );
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }),
);
process.stdout.write(JSON.stringify(outcomes));
