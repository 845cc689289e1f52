import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import { GatewayError } from '../kernel/errors.ts';
import type { Coding } from '../snapshots/compress.ts';

export const MEDIA_TYPE = 'application/json; charset=utf-8';

const MEDIA_TYPES = ['application/json;charset=utf-8'];
const IDENTITY = 'identity';
const IDENTITY_ONLY: Codings = [IDENTITY];
const BEST_FIRST = ['zstd', 'gzip', IDENTITY];

/** The codings that an answer may have, the best one first; never none. */
export type Codings = readonly (Coding | typeof IDENTITY)[];

/** What negotiator has had since 1.0, and its types lack: an order of ours where the request's weights are equal. */
interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): Codings;
}

/** What a request accepts (RFC 9110, sections 12.5.1 and 12.5.3). Throws `not_acceptable` where nothing fits. */
export function negotiate(headers: IncomingHttpHeaders): Codings {
  const negotiator = new Negotiator({ headers }) as Negotiator & PreferringNegotiator;
  if (!acceptsPlainly(headers.accept) && negotiator.mediaType(MEDIA_TYPES) === undefined) {
    throw new GatewayError('not_acceptable');
  }
  if (headers['accept-encoding'] === undefined) return IDENTITY_ONLY;
  const codings = negotiator.encodings(BEST_FIRST, { preferred: BEST_FIRST });
  if (codings.length === 0) throw new GatewayError('not_acceptable');
  return codings;
}

/** Whether a request accepts JSON, in whatever coding: for answers that have one form only. */
export function acceptsJson(headers: IncomingHttpHeaders): boolean {
  return acceptsPlainly(headers.accept) || new Negotiator({ headers }).mediaType(MEDIA_TYPES) !== undefined;
}

/** The coding of a body of this size. Below `compressMinBytes` it is the plain form, unless the request forbids that. */
export function chooseCoding(codings: Codings, bytes: number, compressMinBytes: number): Coding | undefined {
  if (bytes < compressMinBytes && codings.includes(IDENTITY)) return undefined;
  const [best] = codings;
  return best === IDENTITY ? undefined : best;
}

/** What most clients send: not worth parsing. */
function acceptsPlainly(accept: string | undefined): boolean {
  return accept === undefined || accept === '*/*' || accept === 'application/json';
}
