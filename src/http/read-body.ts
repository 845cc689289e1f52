import { GatewayError } from '../kernel/errors.ts';
import type { Exchange } from './exchange.ts';

/**
 * The body of a request, whole. Throws `too_large` as soon as it is known to be larger than `maxBytes`, and
 * `request_timeout` or `invalid_request` where Node gives it up. Rejects where the caller hangs up.
 */
export async function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  const { req, res } = exchange;
  const tooLarge = () => new GatewayError('too_large', { detail: `The request body may hold ${maxBytes} bytes.` });
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  // Behind another answer, Node would write it between the head and the body of this one. No client waits for it
  // forever (RFC 9110, section 10.1.1).
  if (req.headers.expect !== undefined && res.socket !== null) res.writeContinue();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  exchange.onBodyError = reject;
  req.on('error', reject);
  req.on('end', () => resolve(Buffer.concat(chunks)));
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else reject(tooLarge());
  });
  try {
    return await promise;
  } finally {
    exchange.onBodyError = undefined;
    req.removeAllListeners('data');
  }
}
