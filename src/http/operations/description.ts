import type { Catalogue } from '../../catalogue/catalogue.ts';
import { describeReads } from '../openapi/document.ts';
import type { OpenOperation } from './operation.ts';
import { publishedOperation } from './published.ts';
import { LIST_PATH, READ_PATH } from './reads.ts';

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
