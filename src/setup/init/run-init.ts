import type { LoadedConfig } from '../../core/config/load-config.ts';
import { type InitOptions, initSettings } from './init.ts';
import { SourceError } from './remote.ts';
import { openTerminal } from './terminal.ts';

/** Reads a settings file with the blocks of all capabilities. Throws `ConfigError`. */
export type LoadSettings = (file: string) => Promise<LoadedConfig>;

/** Runs `portico init` with the person at the terminal; `yes` takes the best guesses without one. Resolves with the exit code. */
export async function runInit(options: InitOptions, yes: boolean, load: LoadSettings): Promise<number> {
  const { stdin: input, stdout: output } = process;
  output.on('error', () => {}); // Nobody reads on: what is written is a file.
  const print = (text: string) => output.write(text);
  const onInterrupt = () => process.exit();
  const terminal = !yes && input.isTTY && output.isTTY ? openTerminal({ input, output, onInterrupt }) : undefined;
  try {
    return await initSettings(options, { person: terminal, print, probe: (file) => probe(file, load) });
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    process.stderr.write(`portico: ${error.message.replace(/[^\P{Cc}\n]+/gu, ' ')}\n`);
    return 1;
  } finally {
    terminal?.close();
  }
}

/** What `portico check --probe` does. */
async function probe(file: string, load: LoadSettings): Promise<boolean> {
  const { runProbe } = await import('../probe/run-probe.ts');
  const { text, ok } = await runProbe(file, await load(file), { json: false, strict: false, allowPost: false });
  process.stdout.write(text);
  return ok;
}
