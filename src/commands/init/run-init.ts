import { createInterface } from 'node:readline/promises';
import { loadConfig } from '../../config/load-config.ts';
import { type InitOptions, initSettings } from './init.ts';
import type { Person } from './questions.ts';
import { SourceError } from './remote.ts';

/** Runs `portico init` with whoever sits at the terminal, unless `yes` takes the best guesses. Resolves with the exit code. */
export async function runInit(options: InitOptions, yes: boolean): Promise<number> {
  const print = (text: string) => process.stdout.write(text);
  const terminal = !yes && process.stdin.isTTY && process.stdout.isTTY ? openTerminal() : undefined;
  try {
    return await initSettings(options, { person: terminal, print, probe });
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    process.stderr.write(`portico: ${error.message.replace(/[^\P{Cc}\n]+/gu, ' ')}\n`);
    return 1;
  } finally {
    terminal?.close();
  }
}

/** What `portico check --probe` does. */
async function probe(file: string): Promise<boolean> {
  const { runProbe } = await import('../probe/run-probe.ts');
  const { text, ok } = await runProbe(file, await loadConfig(file), { json: false });
  process.stdout.write(text);
  return ok;
}

function openTerminal(): Person & { close(): void } {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  // The terminal hands Ctrl-C over as a key.
  lines.once('SIGINT', () => process.exit());
  return {
    print: (text) => process.stdout.write(text),
    answer: (question) => Promise.race([lines.question(question), closed]),
    close: () => lines.close(),
  };
}
