import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../kernel/errors.ts';
import { decoderFor } from './content-coding.ts';
import type { ReplyHeaders } from './upstream.ts';

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
  return decode === undefined ? body : decode(body, maxBytes).catch(refuseCoding);
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

function refuseCoding(cause: NodeJS.ErrnoException): never {
  if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(cause);
  throw new GatewayError('upstream_invalid', { reason: 'the body is not what its Content-Encoding says', cause });
}
