import { isUtf8 } from 'node:buffer';
import { addAbortSignal, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';

/** The content codings that a body may come in. */
export const ACCEPT_ENCODING = 'gzip, br, zstd';

/** Largest window that a zstd body may ask memory for: 8 MiB (RFC 9659, section 3). */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

/** Decoders by content coding. They work off the event loop, piece by piece. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  // RFC 9110, section 8.4.1.3: the same as gzip.
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress({ params: ZSTD_PARAMS })],
]);

export interface DecodeOptions {
  /** Largest decoded body. */
  readonly maxBytes: number;
  /** Called with the length of each decoded piece, and with the negative length of the encoded body once it is released. */
  readonly hold: (bytes: number) => void;
  /** Ends the decoding when it aborts. */
  readonly signal: AbortSignal;
}

/** Throws `upstream_invalid` if the head of a response announces a body that is too large or has an unsupported coding. */
export function checkBody(headers: ReplyHeaders, maxBytes: number): void {
  decoderFor(headers);
  if (Number(headers['content-length']) > maxBytes) throw tooLarge();
}

/**
 * Removes the content coding of a body. Rejects with `upstream_invalid` if it exceeds `maxBytes` or is wrongly coded, and with
 * the signal's reason when that aborts.
 */
export async function decodeBody(
  headers: ReplyHeaders,
  body: Buffer,
  { maxBytes, hold, signal }: DecodeOptions,
): Promise<Buffer> {
  const open = decoderFor(headers);
  if (open === undefined) return body;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of addAbortSignal(signal, open()).end(body) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw tooLarge();
      hold(chunk.length);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('upstream_invalid', { reason: 'the body is not what its Content-Encoding says', cause });
  }
  hold(-body.length);
  return Buffer.concat(chunks, length);
}

/** Decodes the text of a page. Throws `upstream_invalid` if it is not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new GatewayError('upstream_invalid', { reason: 'the body is not UTF-8' });
  const text = bytes.toString();
  // A byte order mark: RFC 8259, section 8.1 lets a parser ignore it; JSON.parse does not.
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The error for a body that exceeds its bound. */
export function tooLarge(): GatewayError {
  return new GatewayError('upstream_invalid', {
    reason: 'the body is larger than maxPageBytes',
    bound: 'maxPageBytes',
  });
}

/**
 * Creates the decoder for a response's `Content-Encoding`; `undefined` for an uncoded body. Throws `upstream_invalid` for a
 * coding that was not offered, and for several codings: a chain of decoders has no useful bound on its cost.
 */
function decoderFor(headers: ReplyHeaders): (() => Transform) | undefined {
  const codings = [headers['content-encoding'] ?? []]
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
