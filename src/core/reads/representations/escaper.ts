import { GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/turns.ts';
import { unpooled, unpooledInSteps } from '../snapshots/snapshot.ts';

/** Bytes escaped in one turn of the event loop, about a millisecond. */
const ESCAPE_STEP_BYTES = 262_144;

const BEGIN = Buffer.from('"');
/** What a response to `resources/read` has behind its text, which is kept with it: each piece takes 3 % of a cached read to write. */
const END = Buffer.from('"}]}}');

/** Returns UTF-8 as a JSON string with quotes, and {@link END}. Rejects with `overloaded`. */
export type Escape = (bytes: Buffer) => Promise<Buffer>;

/**
 * Escapes few bytes immediately, and many in steps: at most `maxBytes` at a time, and always one snapshot. Concurrent
 * requests for the same bytes, and those while a reader still holds the result, share it.
 */
export function createEscaper(maxBytes: number): Escape {
  const made = new WeakMap<Buffer, WeakRef<Buffer>>();
  const inFlight = new Map<Buffer, Promise<Buffer>>();
  let bytesInFlight = 0;

  function share(bytes: Buffer, escaped: Buffer): Buffer {
    made.set(bytes, new WeakRef(escaped));
    return escaped;
  }

  async function escapeLong(bytes: Buffer): Promise<Buffer> {
    bytesInFlight += bytes.length;
    try {
      return share(bytes, await escapeInSteps(bytes));
    } finally {
      bytesInFlight -= bytes.length;
      inFlight.delete(bytes);
    }
  }

  return async (bytes) => {
    const known = made.get(bytes)?.deref() ?? inFlight.get(bytes);
    if (known !== undefined) return known;
    if (bytes.length <= ESCAPE_STEP_BYTES) return share(bytes, unpooled([BEGIN, escapeStep(bytes), END]));
    if (bytesInFlight > 0 && bytesInFlight + bytes.length > maxBytes) {
      const detail = 'Too many long lists are being prepared already. Try again after Retry-After.';
      throw new GatewayError('overloaded', { detail, bound: 'mcp.maxEscapingBytes' });
    }
    const making = escapeLong(bytes);
    inFlight.set(bytes, making);
    return making;
  };
}

/**
 * Escapes UTF-8 for a JSON string. Escaped characters are ASCII, so steps may start and end anywhere, and bytes can be
 * handled as Latin-1, which is fastest.
 */
function escapeStep(bytes: Buffer): Buffer {
  return Buffer.from(JSON.stringify(bytes.toString('latin1')), 'latin1').subarray(1, -1);
}

async function escapeInSteps(bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [BEGIN];
  for (let begin = 0; begin < bytes.length; begin += ESCAPE_STEP_BYTES) {
    // Before the first step too, because many may start in one turn.
    await nextTurn();
    chunks.push(escapeStep(bytes.subarray(begin, begin + ESCAPE_STEP_BYTES)));
  }
  chunks.push(END);
  return unpooledInSteps(chunks);
}
