import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import { GatewayError } from '../kernel/errors.ts';
import type { Coding } from '../snapshots/compress.ts';

export const MEDIA_TYPE = 'application/json; charset=utf-8';

const MEDIA_TYPES = ['application/json;charset=utf-8'];
/** The last one is what MCP asks of clients. */
const PLAIN: ReadonlySet<string> = new Set(['*/*', 'application/json', 'application/json, text/event-stream']);

const IDENTITY = 'identity';
const IDENTITY_ONLY: Codings = [IDENTITY];
const BEST_FIRST = ['zstd', 'gzip', IDENTITY];

const REMEMBERED = new Map<string, Codings>();
const MAX_REMEMBERED = 64;
const MAX_REMEMBERED_LENGTH = 128;

/** The codings that an answer may have, the best one first. */
export type Codings = readonly (Coding | typeof IDENTITY)[];

/** What negotiator has had since 1.0, and its types lack: an order of ours where the request's weights are equal. */
interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): Codings;
}

/** What a request accepts (RFC 9110, sections 12.5.1 and 12.5.3). Throws `not_acceptable` where nothing fits. */
export function negotiate(headers: IncomingHttpHeaders): Codings {
  if (!acceptsPlainly(headers.accept) && new Negotiator({ headers }).mediaType(MEDIA_TYPES) === undefined) {
    throw new GatewayError('not_acceptable');
  }
  const codings = codingsFor(headers['accept-encoding']);
  if (codings.length === 0) throw new GatewayError('not_acceptable');
  return codings;
}

/** Whether a request accepts JSON, in whatever coding: for answers that have one form only. */
export function acceptsJson(headers: IncomingHttpHeaders): boolean {
  return acceptsPlainly(headers.accept) || new Negotiator({ headers }).mediaType(MEDIA_TYPES) !== undefined;
}

/** The codings that a request accepts, the best one first. Few values are ever seen: they are remembered. */
export function codingsFor(acceptEncoding: string | undefined): Codings {
  if (acceptEncoding === undefined) return IDENTITY_ONLY;
  const remembered = REMEMBERED.get(acceptEncoding);
  if (remembered !== undefined) return remembered;
  const headers = { 'accept-encoding': acceptEncoding };
  const negotiator = new Negotiator({ headers }) as Negotiator & PreferringNegotiator;
  const codings = negotiator.encodings(BEST_FIRST, { preferred: BEST_FIRST });
  if (REMEMBERED.size === MAX_REMEMBERED) REMEMBERED.clear();
  if (acceptEncoding.length <= MAX_REMEMBERED_LENGTH) REMEMBERED.set(acceptEncoding, codings);
  return codings;
}

/** The coding of a body of this size. Below `compressMinBytes` it is the plain form, unless the request forbids that. */
export function chooseCoding(codings: Codings, bytes: number, compressMinBytes: number): Coding | undefined {
  if (bytes < compressMinBytes && codings.includes(IDENTITY)) return undefined;
  const [best] = codings;
  return best === IDENTITY ? undefined : best;
}

/** Whether that is what most clients send, which is not worth parsing. */
export function acceptsPlainly(accept: string | undefined): boolean {
  return accept === undefined || PLAIN.has(accept);
}
