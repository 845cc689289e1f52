import { GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/turns.ts';
import { unpooled, unpooledInSteps } from '../snapshots/snapshot.ts';

/** Bytes that are escaped in one turn of the event loop: about a millisecond. */
const ESCAPE_STEP_BYTES = 262_144;

const QUOTE = Buffer.from('"');

/** Gives UTF-8 as a string within JSON: between quotes and escaped. Throws `overloaded`. */
export type Escape = (bytes: Buffer) => Buffer | Promise<Buffer>;

/**
 * Escapes few bytes at once, and many in steps between which other requests have their turn: at most `maxBytes` of these
 * at a time, and one snapshot however long. Whoever asks for the same bytes meanwhile, or while a reader has what was made
 * of them in hand, is given the same.
 */
export function createEscaper(maxBytes: number): Escape {
  const made = new WeakMap<Buffer, WeakRef<Buffer>>();
  const underWay = new Map<Buffer, Promise<Buffer>>();
  let bytesUnderWay = 0;

  function share(bytes: Buffer, escaped: Buffer): Buffer {
    made.set(bytes, new WeakRef(escaped));
    return escaped;
  }

  async function escapeLong(bytes: Buffer): Promise<Buffer> {
    bytesUnderWay += bytes.length;
    try {
      return share(bytes, await escapeInSteps(bytes));
    } finally {
      bytesUnderWay -= bytes.length;
      underWay.delete(bytes);
    }
  }

  return (bytes) => {
    const known = made.get(bytes)?.deref() ?? underWay.get(bytes);
    if (known !== undefined) return known;
    if (bytes.length <= ESCAPE_STEP_BYTES) return share(bytes, unpooled([QUOTE, escapeStep(bytes), QUOTE]));
    if (bytesUnderWay > 0 && bytesUnderWay + bytes.length > maxBytes) {
      const detail = 'Too many long lists are being prepared already. Try again after Retry-After.';
      throw new GatewayError('overloaded', { detail, bound: 'mcp.maxEscapingBytes' });
    }
    const making = escapeLong(bytes);
    underWay.set(bytes, making);
    return making;
  };
}

/**
 * UTF-8 as it stands within a string of JSON. What is escaped there is ASCII, of which no byte is part of another
 * character: so it may begin and end anywhere, and each byte may pass for a character (Latin-1), which is fastest.
 */
function escapeStep(bytes: Buffer): Buffer {
  return Buffer.from(JSON.stringify(bytes.toString('latin1')), 'latin1').subarray(1, -1);
}

async function escapeInSteps(bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [QUOTE];
  for (let begin = 0; begin < bytes.length; begin += ESCAPE_STEP_BYTES) {
    // Before the first one, too: many may ask in one turn.
    await nextTurn();
    chunks.push(escapeStep(bytes.subarray(begin, begin + ESCAPE_STEP_BYTES)));
  }
  chunks.push(QUOTE);
  return unpooledInSteps(chunks);
}
