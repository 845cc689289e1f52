import { isUtf8 } from 'node:buffer';
import { addAbortSignal, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';

export const ACCEPT_ENCODING = 'gzip, br';

/**
 * Decoders by content coding. They work off the event loop, piece by piece. undici's own interceptor is experimental, and prints
 * a warning in each process that uses it.
 */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  // RFC 9110, section 8.4.1.3: the same as gzip.
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
]);

export interface BodyBounds {
  /** Largest body, before and after decompression. */
  readonly maxBytes: number;
  /** Called with the length of each piece and, negative, with what is released. An error that it throws ends the exchange. */
  readonly hold: (bytes: number) => void;
}

/** Returns the error for a head that announces a body which is too large or has an unsupported coding. */
export function bodyIssue(headers: ReplyHeaders, maxBytes: number): GatewayError | undefined {
  if (Number(headers['content-length']) > maxBytes) return tooLarge();
  const coding = codingOf(headers);
  if (coding === undefined || DECODERS.has(coding)) return undefined;
  return new GatewayError('upstream_invalid', { reason: 'the content coding is unknown or stacked' });
}

/**
 * Removes the content coding of a received body. Rejects with `upstream_invalid` if it exceeds `maxBytes` or is wrongly coded, and
 * with the signal's reason when that aborts.
 */
export async function decodeBody(
  headers: ReplyHeaders,
  body: Buffer,
  bounds: BodyBounds,
  signal: AbortSignal,
): Promise<Buffer> {
  const open = DECODERS.get(codingOf(headers) ?? '');
  if (open === undefined) return body;
  try {
    const decoded = joinPieces(bounds);
    for await (const piece of addAbortSignal(signal, open()).end(body)) decoded.add(piece);
    bounds.hold(-body.length);
    return decoded.bytes();
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('upstream_invalid', { reason: 'the body is not what its Content-Encoding says', cause });
  }
}

/** Joins pieces as they arrive: a piece of one byte would otherwise take a hundred times its size. */
export function joinPieces({ maxBytes, hold }: BodyBounds) {
  let expected = 0;
  let joined: Buffer = NOTHING;
  let length = 0;
  return {
    /** Allocates a body of this length once. */
    expect(bytes: number): void {
      expected = Math.min(bytes, maxBytes, MAX_EXPECTED);
    },
    /** Throws `upstream_invalid` beyond `maxBytes`. */
    add(piece: Buffer): void {
      const end = length + piece.length;
      if (end > maxBytes) throw tooLarge();
      hold(piece.length);
      // Most pages arrive in one piece.
      if (length === 0 && piece.length >= expected) joined = piece;
      else if (end <= joined.length) piece.copy(joined, length);
      else {
        const larger = Buffer.allocUnsafe(Math.max(expected, Math.min(2 * end, maxBytes)));
        joined.copy(larger, 0, 0, length);
        piece.copy(larger, length);
        joined = larger;
      }
      length = end;
    },
    bytes: () => (length === joined.length ? joined : joined.subarray(0, length)),
  };
}

/** Largest body that a head can have allocated before it arrives. */
const MAX_EXPECTED = 4_194_304;

const NOTHING = Buffer.alloc(0);

/** Decodes the text of a page. Throws `upstream_invalid` if it is not UTF-8. */
export function bodyText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new GatewayError('upstream_invalid', { reason: 'the body is not UTF-8' });
  const text = bytes.toString();
  // A byte order mark: RFC 8259, section 8.1 lets a parser ignore it; JSON.parse does not.
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function tooLarge(): GatewayError {
  return new GatewayError('upstream_invalid', {
    reason: 'the body is larger than maxPageBytes',
    bound: 'maxPageBytes',
  });
}

/** The coding of a body; `undefined` for an uncoded one. Several are one unknown: a chain has no useful bound on its cost. */
function codingOf({ 'content-encoding': field }: ReplyHeaders): string | undefined {
  if (field === undefined) return undefined;
  const codings = [field]
    .flat()
    .flatMap((line) => line.split(','))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  return codings.length === 0 ? undefined : codings.join();
}
