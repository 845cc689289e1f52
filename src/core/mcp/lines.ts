import { GatewayError } from '../kernel/errors.ts';

const NEWLINE = Buffer.from('\n');

/** A line without its end, or an error where it is longer than `maxBytes`. */
export type Line = Buffer | GatewayError;

/** Splits a stream of bytes into lines, and holds at most one. */
export function createLines(maxBytes: number, onLine: (line: Line) => void) {
  let held: Buffer[] = [];
  let heldBytes = 0;

  function hold(piece: Buffer): void {
    const fitted = heldBytes <= maxBytes;
    heldBytes += piece.length;
    if (heldBytes <= maxBytes) held.push(piece);
    else held = [];
    if (fitted && heldBytes > maxBytes) onLine(new GatewayError('too_large', { bound: 'mcp.maxBodyBytes' }));
  }

  function endLine(): void {
    if (heldBytes <= maxBytes) onLine(Buffer.concat(held));
    held = [];
    heldBytes = 0;
  }

  return {
    push(chunk: Buffer): void {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        hold(chunk.subarray(start, end));
        endLine();
        start = end + 1;
      }
      if (start < chunk.length) hold(chunk.subarray(start));
    },
    /** Ends the last line, if bytes of it are held. */
    end(): void {
      if (heldBytes > 0) endLine();
    },
  };
}
