import { createPageReader, type PageReaderOptions } from '../../../../src/core/reads/catalogue/page-reader.ts';
import type { ReadPage } from '../../../../src/core/reads/catalogue/page-worker.ts';

/** Reads pages at once, whatever their size, with functions of a test's own. */
export function readAtOnce(options: PageReaderOptions): ReadPage {
  const read = createPageReader(options);
  return async (page) => read(page);
}
