import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { publishedOperation } from '../../core/http/operations/published.ts';
import { LIST_PATH, READ_PATH } from '../../core/http/operations/reads.ts';
import type { Catalogue } from '../../core/reads/catalogue/catalogue.ts';
import { describeReads } from './document.ts';

export const DESCRIPTION_PATH = '/openapi.json';

export interface DescriptionOptions {
  readonly publicUrl?: string | undefined;
  /** Names of the headers beside `Authorization` in which callers bring credentials. @default none */
  readonly otherCredentials?: readonly string[] | undefined;
}

/** The reads as OpenAPI: what they show of this deployment are its resources, never an item. */
export function descriptionOperation(
  { offered }: Pick<Catalogue, 'offered'>,
  { publicUrl, otherCredentials }: DescriptionOptions = {},
): OpenOperation {
  return publishedOperation(
    DESCRIPTION_PATH,
    describeReads(offered, { server: publicUrl, list: LIST_PATH, read: READ_PATH, otherCredentials }),
  );
}
