import { isUtf8 } from 'node:buffer';
import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';

/** The content codings that a body may come in. */
export const ACCEPT_ENCODING = 'gzip, br, zstd';

/** Largest window that a zstd body may ask memory for: 8 MiB (RFC 9659, section 3). */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

/** What undoes a content coding, off the event loop, piece by piece. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  // RFC 9110, section 8.4.1.3: the same as gzip.
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress({ params: ZSTD_PARAMS })],
]);

export interface DecodeOptions {
  /** Largest body without its coding. */
  readonly maxBytes: number;
  /** Told of bytes as they come out of the decoder, and of those that went into it once they are not needed any more. */
  readonly hold: (bytes: number) => void;
  /** Ends the decoding when it aborts. */
  readonly signal: AbortSignal;
}

/** Throws `upstream_invalid` where the head of a response tells that its body is too large or wrongly coded. */
export function checkBody(headers: ReplyHeaders, maxBytes: number): void {
  decoderFor(headers);
  if (Number(headers['content-length']) > maxBytes) throw tooLarge();
}

/**
 * The body of a response without its content coding, never more than `maxBytes`. Throws or rejects with
 * `upstream_invalid` for what is too large or wrongly coded, and with the signal's reason once that aborts.
 */
export function decodeBody(headers: ReplyHeaders, body: Buffer, options: DecodeOptions): Buffer | Promise<Buffer> {
  const open = decoderFor(headers);
  return open === undefined ? body : decode(body, open, options);
}

function decode(body: Buffer, open: () => Transform, { maxBytes, hold, signal }: DecodeOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const chunks: Buffer[] = [];
    let length = 0;
    const decoder = open();
    const stop = () => decoder.destroy(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    decoder
      .on('data', (chunk: Buffer) => {
        try {
          length += chunk.length;
          if (length > maxBytes) throw tooLarge();
          hold(chunk.length);
          chunks.push(chunk);
        } catch (error) {
          decoder.destroy(error as Error);
        }
      })
      .on('end', () => {
        hold(-body.length);
        resolve(Buffer.concat(chunks, length));
      })
      .on('error', (error) => reject(signal.aborted || error instanceof GatewayError ? error : undecodable(error)))
      .on('close', () => signal.removeEventListener('abort', stop))
      .end(body);
  });
}

/** The text of a page. Throws `upstream_invalid` for what is not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new GatewayError('upstream_invalid', { reason: 'the body is not UTF-8' });
  const text = bytes.toString();
  // A byte order mark: RFC 8259, section 8.1 lets a parser ignore it; JSON.parse does not.
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The error for a body beyond its bound. */
export function tooLarge(): GatewayError {
  return new GatewayError('upstream_invalid', {
    reason: 'the body is larger than maxPageBytes',
    bound: 'maxPageBytes',
  });
}

/**
 * The decoder that a response's `Content-Encoding` asks for; `undefined` where there is nothing to undo. Throws
 * `upstream_invalid` for a coding that was not asked for, and for several on top of each other: what a chain of
 * decoders would cost has no bound worth having.
 */
function decoderFor(headers: ReplyHeaders): (() => Transform) | undefined {
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

function undecodable(cause: Error): GatewayError {
  return new GatewayError('upstream_invalid', { reason: 'the body is not what its Content-Encoding says', cause });
}
