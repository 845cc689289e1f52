import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, zstdDecompress } from 'node:zlib';
import { GatewayError } from '../kernel/errors.ts';
import type { ReplyHeaders } from './upstream.ts';

/** The codings that {@link decoderFor} knows, as `Accept-Encoding` names them. */
export const ACCEPT_ENCODING = 'gzip, br, zstd';

/** Brings a body back to its identity form, off the event loop. Rejects where that is longer than `maxBytes`. */
export type Decoder = (body: Buffer, maxBytes: number) => Promise<Buffer>;

const inflate = promisify(gunzip);
const unbrotli = promisify(brotliDecompress);
const unzstd = promisify(zstdDecompress);

/** Largest window that a zstd body may ask memory for: 8 MiB (RFC 9659, section 3). */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

const gzip: Decoder = (body, maxBytes) => inflate(body, { maxOutputLength: maxBytes });

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', gzip],
  // RFC 9110, section 8.4.1.3: the same as gzip.
  ['x-gzip', gzip],
  ['br', (body, maxBytes) => unbrotli(body, { maxOutputLength: maxBytes })],
  ['zstd', (body, maxBytes) => unzstd(body, { maxOutputLength: maxBytes, params: ZSTD_PARAMS })],
]);

/**
 * The decoder that a response's `Content-Encoding` asks for; `undefined` where there is none to undo. Throws
 * `upstream_invalid` for a coding that was not asked for, and for several on top of each other: what a chain of
 * decoders would cost has no bound worth having.
 */
export function decoderFor(headers: ReplyHeaders): Decoder | undefined {
  const field = headers['content-encoding'];
  if (field === undefined) return undefined;
  const codings = [field]
    .flat()
    .flatMap((line) => line.split(','))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  const [coding] = codings;
  if (coding === undefined) return undefined;
  const decoder = codings.length === 1 ? DECODERS.get(coding) : undefined;
  if (decoder === undefined)
    throw new GatewayError('upstream_invalid', { reason: 'the content coding is unknown or stacked' });
  return decoder;
}
