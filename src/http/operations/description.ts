import { createHash } from 'node:crypto';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { describeReads } from '../openapi/document.ts';
import { namesTag } from '../request/conditional.ts';
import { requireJsonAccepted } from '../request/negotiate.ts';
import type { HttpResponse } from '../response/send.ts';
import type { OpenOperation } from './operation.ts';
import { LIST_PATH, READ_PATH } from './reads.ts';

export const DESCRIPTION_PATH = '/openapi.json';

/** The reads as OpenAPI, for anybody: what they show of this deployment are its resources, never an item. Made once. */
export function descriptionOperation({ offered }: Pick<Catalogue, 'offered'>, publicUrl?: string): OpenOperation {
  const document = describeReads(offered, { server: publicUrl, list: LIST_PATH, read: READ_PATH });
  const body = Buffer.from(JSON.stringify(document));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = ['ETag', etag, 'Cache-Control', 'no-cache'];
  const described: HttpResponse = { status: 200, headers: [...headers, 'Content-Type', 'application/json'], body };
  const known: HttpResponse = { status: 304, headers, body: undefined };
  return {
    path: DESCRIPTION_PATH,
    methods: ['GET', 'HEAD'],
    takesBody: false,
    isProbe: false,
    open: true,
    respond({ fields }) {
      requireJsonAccepted(fields);
      return fields.ifNoneMatch !== undefined && namesTag(fields.ifNoneMatch, etag) ? known : described;
    },
  };
}
