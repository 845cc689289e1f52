import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, zstdDecompress } from 'node:zlib';
import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';

/** The content codings that a body may come in. */
export const ACCEPT_ENCODING = 'gzip, br, zstd';

/** Undoes a content coding, off the event loop. Rejects where the body is longer than `maxBytes` without it. */
type Decoder = (body: Buffer, maxBytes: number) => Promise<Buffer>;

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

/** Throws `upstream_invalid` where the head of a response tells that its body is too large or wrongly coded. */
export function checkBody(headers: ReplyHeaders, maxBytes: number): void {
  decoderFor(headers);
  if (Number(headers['content-length']) > maxBytes) throw tooLarge();
}

/**
 * The body of a response without its content coding, never more than `maxBytes`. Throws or rejects with
 * `upstream_invalid` for what is too large or wrongly coded.
 */
export function decodeBody(headers: ReplyHeaders, body: Buffer, maxBytes: number): Buffer | Promise<Buffer> {
  const decode = decoderFor(headers);
  return decode === undefined ? body : decode(body, maxBytes).catch(throwUndecodable);
}

/** The text of a page. Throws `upstream_invalid` for what is not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new GatewayError('upstream_invalid', { reason: 'the body is not UTF-8' });
  const text = bytes.toString();
  // A byte order mark: RFC 8259, section 8.1 lets a parser ignore it; JSON.parse does not.
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The error for a body beyond its bound. */
export function tooLarge(cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { reason: 'the body is larger than maxPageBytes', cause });
}

/**
 * The decoder that a response's `Content-Encoding` asks for; `undefined` where there is nothing to undo. Throws
 * `upstream_invalid` for a coding that was not asked for, and for several on top of each other: what a chain of
 * decoders would cost has no bound worth having.
 */
function decoderFor(headers: ReplyHeaders): Decoder | undefined {
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
  if (decoder === undefined) {
    throw new GatewayError('upstream_invalid', { reason: 'the content coding is unknown or stacked' });
  }
  return decoder;
}

function throwUndecodable(cause: NodeJS.ErrnoException): never {
  if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(cause);
  throw new GatewayError('upstream_invalid', { reason: 'the body is not what its Content-Encoding says', cause });
}
