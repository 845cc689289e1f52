import { createInterface } from 'node:readline/promises';
import type { Person } from './questions.ts';

export interface TerminalOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Told Ctrl-C, which a terminal hands over as a key. */
  readonly onInterrupt: () => void;
}

/** Whoever sits at a terminal. */
export function openTerminal({ input, output, onInterrupt }: TerminalOptions): Person & { close(): void } {
  const lines = createInterface({ input, output });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  lines.once('SIGINT', onInterrupt);
  return {
    print: (text) => {
      output.write(text);
    },
    // What is asked of a closed terminal is never answered, and throws from Node 24 on.
    answer: (question) => Promise.race([lines.question(question), closed]).catch(() => undefined),
    close: () => lines.close(),
  };
}
