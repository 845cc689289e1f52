import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../kernel/errors.ts';
import { decoderFor } from './content-coding.ts';

type Response = Pick<Dispatcher.ResponseData, 'headers' | 'body'>;
type Body = Response['body'];

/** How much, and how long, is still read of a body that nobody wants, so that its connection can serve again. */
const DISCARD = { limit: 65_536, timeoutMs: 1000 };

/**
 * The text of a response's body: never more than `maxBytes`, neither as it comes nor decoded. Rejects with
 * `upstream_invalid` for what is too large, wrongly coded or not UTF-8, and with undici's own error where it breaks
 * off. What is left unread then is for {@link discard}.
 */
export async function readText({ headers, body }: Response, maxBytes: number): Promise<string> {
  const decode = decoderFor(headers);
  if (Number(headers['content-length']) > maxBytes) throw tooLarge();
  const bytes = await collect(body, maxBytes);
  return textOf(decode === undefined ? bytes : await decode(bytes, maxBytes).catch(refuseCoding));
}

/** Lets go of a body: what is left of a small one is drained, so that the connection is kept; else it is closed. */
export function discard(body: Body): void {
  body.dump({ limit: DISCARD.limit, signal: AbortSignal.timeout(DISCARD.timeoutMs) }).catch(() => {});
}

function collect(body: Body, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    body.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) body.destroy(tooLarge());
      else chunks.push(chunk);
    });
    body.on('end', () => resolve(Buffer.concat(chunks, length)));
    body.on('error', reject);
  });
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new GatewayError('upstream_invalid', { reason: 'the body is not UTF-8' });
  const text = bytes.toString();
  // A byte order mark: RFC 8259, section 8.1 lets a parser ignore it; JSON.parse does not.
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function refuseCoding(cause: NodeJS.ErrnoException): never {
  if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(cause);
  throw new GatewayError('upstream_invalid', { reason: 'the body is not what its Content-Encoding says', cause });
}

function tooLarge(cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { reason: 'the body is larger than maxPageBytes', cause });
}
