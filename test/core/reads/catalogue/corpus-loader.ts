import { createLoader } from '../../../../src/core/reads/catalogue/loader.ts';
import { compileList, type ListSettings } from '../../../../src/core/reads/catalogue/page-reader.ts';
import { createPageWorker } from '../../../../src/core/reads/catalogue/page-worker.ts';
import type { Loader } from '../../../../src/core/reads/snapshots/load.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';

const field = (from: string) => ({ from, default: '', values: {}, format: 'none' }) as const;

const SETTINGS: ListSettings = {
  resource: 'things',
  baseUrl: 'https://platform.example',
  path: '/things',
  query: {},
  pagination: { kind: 'token', sizeParam: null, size: 1, tokenParam: 'token', next: 'next' },
  maxItems: 1_000_000,
  maxPages: 1000,
  maxNextBytes: 4096,
  maxPageValues: 250_000,
  items: 'things',
  fields: {
    id: field('id'),
    name: field('name'),
    description: field('description'),
    time: { ...field('time'), format: 'timestamp' },
  },
  required: ['id', 'name'],
  invalidItems: 'drop',
};

/** With the bounds that settings have by default: loaders of lists whose pages come of `bodyOf`, at once. */
export function corpusLoaders(): { loaderOf(bodyOf: (target: string) => Buffer): Loader; close(): Promise<void> } {
  const loading = createLoading({ maxBytes: 134_217_728 });
  const pageWorker = createPageWorker(2_097_152);
  const { list } = compileList(SETTINGS);
  const readPage = pageWorker.open('things', SETTINGS);
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
    close: pageWorker.close,
  };
}
