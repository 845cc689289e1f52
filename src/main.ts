#!/usr/bin/env node
import { parseArgs } from 'node:util';

// Everything else is imported once it is known to be needed: what is off is not loaded, and a Node that is too old
// gets a sentence instead of a stack.

const USAGE = `Usage:
  portico [serve] --config FILE   serve the platform that FILE describes
  portico stdio --config FILE     answer MCP on standard input and output
  portico --demo                  serve the embedded demo platform
  portico check --config FILE     check FILE and print the settings that take effect, secrets masked
  portico schema                  print the JSON Schema of the settings file
  portico --help | --version

Every setting is described in config/default.yaml and docs/configuration.md.
`;

/** Exit codes: 0 done, 1 it failed while running or starting, 2 the command line or the settings are wrong. */
async function main(args: string[]): Promise<number> {
  const command = parseCommand(args);
  if ('mistake' in command) return complain(`${command.mistake}\n\n${USAGE}`);
  const { name, config } = command;
  if (name === 'help') return print(USAGE);
  if (name === 'version') {
    const { readVersion } = await import('./version.ts');
    return print(`${readVersion()}\n`);
  }
  const { ConfigError } = await import('./config/config-error.ts');
  try {
    if (name === 'schema') {
      const { settingsJsonSchema } = await import('./config/json-schema.ts');
      return print(settingsJsonSchema());
    }
    if (name === 'demo') {
      const { serveDemo } = await import('./serve-demo.ts');
      return await serveDemo();
    }
    const { loadConfig } = await import('./config/load.ts');
    const loaded = await loadConfig(config);
    if (name === 'check') return print(loaded.masked());
    if (name === 'stdio') {
      const { serveStdio } = await import('./serve-stdio.ts');
      return await serveStdio(loaded.config, config);
    }
    const { serve } = await import('./serve.ts');
    return await serve(loaded.config);
  } catch (error) {
    if (error instanceof ConfigError) return complain(`${error.message}\n`);
    throw error;
  }
}

/** Commands that need a file of settings. */
const WITH_SETTINGS = ['serve', 'stdio', 'check'];

type Command = { name: string; config: string } | { mistake: string };

function parseCommand(args: string[]): Command {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    return { mistake: error instanceof Error ? error.message : 'bad arguments' };
  }
  const { values, positionals } = parsed;
  const [name = 'serve', ...rest] = positionals;
  const config = values.config ?? '';
  if (values.help === true) return { name: 'help', config };
  if (values.version === true) return { name: 'version', config };
  if (values.demo === true) {
    return args.length === 1 ? { name: 'demo', config } : { mistake: '--demo takes no other argument' };
  }
  if (rest.length > 0) return { mistake: `too many arguments: ${rest.join(' ')}` };
  if (name === 'schema') return { name, config };
  if (!WITH_SETTINGS.includes(name)) return { mistake: `there is no command ${name}` };
  return config === '' ? { mistake: `${name} needs --config FILE` } : { name, config };
}

function parse(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    options: {
      config: { type: 'string', short: 'c' },
      demo: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
  });
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(`portico: ${text}`);
  return 2;
}

function isTooOld(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 20);
}

if (isTooOld(process.versions.node)) {
  process.stderr.write(`portico: needs Node 22.20 or newer, and this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  process.exitCode = await main(process.argv.slice(2));
}
