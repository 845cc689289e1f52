import { GatewayError } from '../kernel/errors.ts';

const NEWLINE = Buffer.from('\n');

/** A line without its end, or an error where it is longer than `maxBytes`. */
export type Line = Buffer | GatewayError;

/** Splits a stream of bytes into lines, and holds at most one. The last one may lack its end. */
export async function* linesOf(input: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let held: Buffer[] = [];
  let heldBytes = 0;

  function hold(piece: Buffer): void {
    heldBytes += piece.length;
    if (heldBytes <= maxBytes) held.push(piece);
    else held = [];
  }

  function endLine(): Line {
    const fits = heldBytes <= maxBytes;
    const line = fits ? Buffer.concat(held) : new GatewayError('too_large', { bound: 'mcp.maxBodyBytes' });
    held = [];
    heldBytes = 0;
    return line;
  }

  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, end));
      yield endLine();
      start = end + 1;
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  }
  if (heldBytes > 0) yield endLine();
}
