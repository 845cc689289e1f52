#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import type { ParsedCommand } from './commands/command-line.ts';
import { catchSignals } from './commands/signals.ts';
import type { LoadedSettings } from './composition.ts';

catchSignals();

const { nodeIssue } = await import('./node-version.ts');
const tooOld = nodeIssue(process.versions.node);
if (tooOld !== undefined) process.exit(complain(`${tooOld}\n`, 1));

// Before any code that V8 optimizes: otherwise the first loads make it allocate each request's objects in the old
// generation (allocation-site pretenuring), and each scavenge takes 7 to 12 ms. Without pretenuring, cached reads per
// second are 20 % more (six rounds).
setFlagsFromString('--no-allocation-site-pretenuring');

// Everything else is imported on demand: what is off is not loaded, and a Node that is too old has exited by now.
const { parseCommandLine, USAGE } = await import('./commands/command-line.ts');

const DEFAULT_FILE = 'portico.yaml';

const FIRST_STEPS = `portico --demo serves a demo platform, and portico init writes a first ${DEFAULT_FILE} from an OpenAPI document.\n`;

/** Exit codes: 0 done, 1 failed while starting or running, 2 invalid command line or settings. */
async function main(args: string[]): Promise<number> {
  const command = parseCommandLine(args);
  if ('issue' in command) return complain(`${command.issue}; portico --help lists the commands and their options\n`, 2);
  try {
    return await run(command);
  } catch (error) {
    const { ConfigError } = await import('./core/config/config-error.ts');
    if (!(error instanceof ConfigError)) throw error;
    // Like compilers, each line starts with its place, so that editors can jump there.
    process.stderr.write(`${error.message}\n`);
    if (command.file === undefined && !existsSync(DEFAULT_FILE)) process.stderr.write(FIRST_STEPS);
    return 2;
  }
}

/** Opening a gateway checks every file that settings name. It closes at once, without a line of the log. */
const UNSTARTED = { log: { level: 'silent' }, shutdown: { delayMs: 0 } } as const;

/** A server ends the process itself, because unread output would keep it alive. */
async function run(command: ParsedCommand): Promise<number> {
  const { name, file = DEFAULT_FILE } = command;
  // Set by a signal that ends the process before its work: a server has nothing in flight yet.
  process.exitCode = ['serve', 'stdio', 'demo'].includes(name) ? 0 : 1;
  switch (name) {
    case 'help':
      return print(USAGE);
    case 'version': {
      const { readVersion } = await import('./core/kernel/version.ts');
      return print(`${readVersion()}\n`);
    }
    case 'schema': {
      const { settingsJsonSchema } = await import('./setup/json-schema.ts');
      const { SLICES } = await import('./composition.ts');
      return print(settingsJsonSchema(undefined, SLICES));
    }
    case 'init': {
      const { runInit } = await import('./setup/init/init-command.ts');
      const { openapi = '' } = command;
      return runInit({ openapi, file });
    }
    case 'demo': {
      const { serveDemo } = await import('./commands/demo.ts');
      return process.exit(await serveDemo());
    }
  }
  const { loadSettings } = await import('./composition.ts');
  const loaded = await loadSettings(file);
  try {
    return await runWith(loaded, file, command);
  } catch (error) {
    const { ConfigError } = await import('./core/config/config-error.ts');
    // Thrown where settings are used, without a file name.
    throw error instanceof ConfigError ? loaded.placed(error) : error;
  }
}

async function runWith(
  loaded: LoadedSettings,
  file: string,
  { name, full = false, probe = false, ...options }: ParsedCommand,
): Promise<number> {
  const { warnings } = loaded;
  if (name === 'check') {
    const { checkReport } = await import('./setup/check.ts');
    const { warningLines } = await import('./core/config/config-error.ts');
    const { createGateway } = await import('./gateway.ts');
    process.stderr.write(warningLines(warnings, file));
    await createGateway({ ...loaded.settings, ...UNSTARTED }).close();
    if (!probe) return print(checkReport(file, loaded, full));
    const { runProbe } = await import('./setup/probe/probe-command.ts');
    const { text, ok } = await runProbe(file, loaded, options);
    return (await print(text)) || (ok ? 0 : 1);
  }
  if (name === 'stdio') {
    const { serveStdio } = await import('./commands/stdio.ts');
    return process.exit(await serveStdio(loaded, file));
  }
  const { serve } = await import('./commands/serve.ts');
  return process.exit(await serve(loaded.settings, { warnings, file }));
}

/** Resolves when all of it is written, or its reader is gone. */
function print(text: string): Promise<number> {
  process.stdout.on('error', () => {}); // Also passed to `write`.
  return new Promise((resolve) => process.stdout.write(text, (error) => resolve(error ? 1 : 0)));
}

function complain(text: string, code: number): number {
  process.stderr.write(`portico: ${text}`);
  return code;
}

process.exitCode = await main(process.argv.slice(2));
