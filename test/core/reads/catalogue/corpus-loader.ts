import { createLoader } from '../../../../src/core/reads/catalogue/loader.ts';
import { compileList, createPageReader, createPageTurns } from '../../../../src/core/reads/catalogue/page-reader.ts';
import type { Loader } from '../../../../src/core/reads/snapshots/load.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import { field, listSettings } from './loader-over.ts';

const SETTINGS = listSettings({
  fields: {
    ...{ id: field('id'), name: field('name'), description: field('description') },
    time: { ...field('time'), format: 'timestamp' },
  },
});

/** With the bounds that settings have by default: loaders of lists whose pages come of `bodyOf`, at once. */
export function corpusLoaders(): { loaderOf(bodyOf: (target: string) => Buffer): Loader } {
  const loading = createLoading({ maxBytes: 134_217_728 });
  const compiled = compileList(SETTINGS);
  const { list } = compiled;
  const readPage = createPageReader(compiled, createPageTurns());
  return {
    loaderOf: (bodyOf) =>
      createLoader({
        resource: 'things',
        upstream: {
          name: 'platform',
          async get({ target, read, hold }) {
            await new Promise(setImmediate);
            const body = bodyOf(target);
            hold?.(body.length);
            return { page: await read(body, {}), headers: {} };
          },
          close: async () => {},
        },
        rules: {},
        compare: () => [],
        timeoutMs: 60_000,
        maxReadBytes: 67_108_864,
        loading,
        events: {},
        now: Date.now,
        list,
        readPage,
      }),
  };
}
