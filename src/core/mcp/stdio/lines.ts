const NEWLINE = 0x0a;

export interface LinesOptions {
  /** Longer lines are skipped. */
  readonly maxBytes: number;
  readonly onLine: (line: Buffer) => void;
  readonly onTooLong: () => void;
}

/** Splits a stream of bytes into lines, and holds at most one. An unterminated line is ignored. */
export function createLines({ maxBytes, onLine, onTooLong }: LinesOptions): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;

  function hold(piece: Buffer): void {
    const fitted = heldBytes <= maxBytes;
    heldBytes += piece.length;
    if (heldBytes <= maxBytes) held.push(piece);
    else held = [];
    if (fitted && heldBytes > maxBytes) onTooLong();
  }

  return (chunk) => {
    let begun = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, begun)) {
      hold(chunk.subarray(begun, end));
      if (heldBytes <= maxBytes) onLine(Buffer.concat(held));
      held = [];
      heldBytes = 0;
      begun = end + 1;
    }
    if (begun < chunk.length) hold(chunk.subarray(begun));
  };
}
