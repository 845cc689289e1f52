import type { WriteStream } from 'node:tty';

/** A line on a terminal that is written over as work goes on. */
export interface Progress {
  show(text: string): void;
  /** Leaves nothing of it behind. */
  clear(): void;
}

const TO_LINE_START = '\r';
const ERASE_LINE = '\u001b[2K';

/** Nothing is written to what is no terminal. */
export function startProgress(stream: Pick<WriteStream, 'isTTY' | 'columns' | 'write'>): Progress {
  let shown = false;
  const write = (text: string) => {
    if (stream.isTTY === true) stream.write(TO_LINE_START + ERASE_LINE + text);
  };
  return {
    show(text) {
      shown = true;
      // A line that is broken in two cannot be erased.
      write(text.slice(0, Math.max((stream.columns || 80) - 1, 1)));
    },
    clear() {
      if (shown) write('');
    },
  };
}
