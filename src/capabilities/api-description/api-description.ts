import { publishedOperation } from '../../core/http/operations/operation.ts';
import { LIST_PATH, READ_PATH } from '../../core/http/operations/reads.ts';
import { defineCapability } from '../capability.ts';
import { describeReads } from './document.ts';

export const DESCRIPTION_PATH = '/openapi.json';

/** The reads of this gateway as an OpenAPI document, open to all: it names the resources, never an item. */
export const apiDescription = defineCapability({
  open: () => ({
    operations: ({ config: { publicUrl }, offered, otherCredentials }) => [
      publishedOperation(
        DESCRIPTION_PATH,
        describeReads(offered, { server: publicUrl, list: LIST_PATH, read: READ_PATH, otherCredentials }),
      ),
    ],
  }),
});
