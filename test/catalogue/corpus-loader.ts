import { createLoader } from '../../src/catalogue/loader.ts';
import { createPageTurns } from '../../src/catalogue/page-turns.ts';
import { createMapper } from '../../src/mapping/mapper.ts';
import { createPageParser } from '../../src/mapping/page.ts';
import type { Loader } from '../../src/snapshots/load.ts';
import { createLoading } from '../../src/upstream/loading.ts';

const plain = { from: '', default: '', values: {}, format: 'none' } as const;

/** With the bounds that settings have by default: loaders of lists whose pages come of `bodyOf`, at once. */
export function corpusLoaders(): (bodyOf: (target: string) => Buffer) => Loader {
  const loading = createLoading({ maxBytes: 134_217_728, events: {} });
  const turns = createPageTurns(2_097_152);
  return (bodyOf) =>
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
      timeoutMs: 60_000,
      maxReadBytes: 67_108_864,
      maxPageValues: 250_000,
      loading,
      turns,
      events: {},
      now: Date.now,
      list: {
        baseUrl: 'https://platform.example',
        path: '/things',
        query: {},
        pagination: {
          kind: 'token',
          sizeParam: null,
          size: 1,
          tokenParam: 'token',
          next: (body) => (body as { next?: unknown }).next,
        },
        maxItems: 1_000_000,
        maxPages: 1000,
        maxNextBytes: 4096,
      },
      parse: createPageParser('things'),
      map: createMapper({
        fields: {
          id: { ...plain, from: 'id' },
          name: { ...plain, from: 'name' },
          description: { ...plain, from: 'description' },
          time: { ...plain, from: 'time', format: 'timestamp' },
        },
        required: ['id', 'name'],
        invalidItems: 'drop',
      }),
    });
}
