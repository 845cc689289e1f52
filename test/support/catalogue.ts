import type { Caller } from '../../src/core/kernel/caller.ts';
import { type Catalogue, createCatalogue } from '../../src/core/reads/catalogue/catalogue.ts';
import type { Load } from '../../src/core/reads/snapshots/load.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { define } from '../../src/core/resources/resource.ts';
import { loadOf } from './platform/loads.ts';

export interface CatalogueRead {
  readonly name: string;
  readonly caller: Caller;
  /** Made when it is looked at, as edges do it. */
  readonly signal: AbortSignal;
  readonly noCache: boolean;
}

export type Reader = (read: CatalogueRead) => Load | Promise<Load>;

/** The catalogue of all resources with the reads of a test. */
export function catalogueOf(read: Reader = () => loadOf()): Catalogue {
  return createCatalogue(
    RESOURCES.map((resource) => ({
      resource,
      definition: define(resource, 'platform'),
      upstream: 'platform',
      known: {},
      requiredScopes: [],
      read: async (caller, options) =>
        read({
          name: resource.name,
          caller,
          noCache: options.noCache ?? false,
          get signal() {
            return options.signal;
          },
        }),
    })),
  );
}

/** A reader whose reads end when the test releases them, the oldest first, or when they are aborted. */
export function createHeldReads() {
  const waiting: ((load: Load) => void)[] = [];
  return {
    read: ({ signal }: CatalogueRead) =>
      new Promise<Load>((resolve, reject) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => {
          waiting.splice(waiting.indexOf(resolve), 1);
          reject(signal.reason);
        });
      }),
    release: (load = loadOf()) => waiting.shift()?.(load),
    waiting: () => waiting.length,
  };
}
