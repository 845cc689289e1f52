import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** So many are drawn at once: one by one they cost more than all else that is done for a request whose trace is not kept. */
const DRAWN = 256;
/** Of the 56 random bits in which the specification has it decided, the first ones: more than any ratio is written with. */
const DECIDING = { offset: 9, bytes: 6 };

/**
 * Draws the id of a trace that begins here: `undefined` where it is not to be kept. That is decided by the rightmost bits of the
 * id, so that all who decide like that decide alike (OpenTelemetry, trace SDK, TraceIdRatioBased; W3C Trace Context 2, section
 * 3.2.2.3.1).
 */
export function createSampler(ratio: number): () => string | undefined {
  const ids = Buffer.allocUnsafe(ID_BYTES * DRAWN);
  const threshold = (1 - ratio) * 2 ** (8 * DECIDING.bytes);
  let next = ids.length;
  return () => {
    if (next === ids.length) {
      randomFillSync(ids);
      next = 0;
    }
    const start = next;
    next += ID_BYTES;
    const isKept = ids.readUIntBE(start + DECIDING.offset, DECIDING.bytes) >= threshold;
    return isKept ? ids.toString('hex', start, start + ID_BYTES) : undefined;
  };
}
