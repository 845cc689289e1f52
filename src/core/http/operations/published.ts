import { createHash } from 'node:crypto';
import { namesTag, requireJsonAccepted } from '../request/request-head.ts';
import type { HttpResponse } from '../response/send.ts';
import type { OpenOperation } from './operation.ts';

/** Serves a constant JSON document without a credential. `forAnyPage`: a page of any origin, too. */
export function publishedOperation(path: string, document: object, { forAnyPage = false } = {}): OpenOperation {
  const body = Buffer.from(JSON.stringify(document));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = ['ETag', etag, 'Cache-Control', 'no-cache'];
  const whole: HttpResponse = { status: 200, headers: [...headers, 'Content-Type', 'application/json'], body };
  const known: HttpResponse = { status: 304, headers, body: undefined };
  return {
    path,
    methods: ['GET', 'HEAD'],
    takesBody: false,
    isProbe: false,
    forAnyPage,
    vary: 'Accept',
    open: true,
    respond({ fields }) {
      requireJsonAccepted(fields);
      return fields.ifNoneMatch !== undefined && namesTag(fields.ifNoneMatch, etag) ? known : whole;
    },
  };
}
