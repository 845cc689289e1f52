import { parseArgs } from 'node:util';

export const USAGE = `Usage:
  portico [serve] --config FILE   serve the platform that FILE describes
  portico stdio --config FILE     answer MCP on standard input and output
  portico --demo                  serve the embedded demo platform
  portico check --config FILE     check FILE and print the settings that take effect, secrets masked
  portico schema                  print the JSON Schema of the settings file
  portico --help | --version

Every setting is described in config/default.yaml and docs/configuration.md.
`;

export type Command = 'serve' | 'stdio' | 'check' | 'schema' | 'demo' | 'help' | 'version';

/** What was typed: a command and the path of its settings file, which is empty where it needs none. */
export type CommandLine = { readonly name: Command; readonly config: string } | { readonly issue: string };

const WITH_SETTINGS: readonly string[] = ['serve', 'stdio', 'check'] satisfies Command[];

/** Reads the arguments behind `portico`. An issue is a sentence for the person who typed them. */
export function parseCommandLine(args: string[]): CommandLine {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    return { issue: error instanceof Error ? error.message : 'bad arguments' };
  }
  const { values, positionals } = parsed;
  const [name = 'serve', ...rest] = positionals;
  const config = values.config ?? '';
  if (values.help === true) return { name: 'help', config };
  if (values.version === true) return { name: 'version', config };
  if (values.demo === true) {
    return args.length === 1 ? { name: 'demo', config } : { issue: '--demo takes no other argument' };
  }
  if (rest.length > 0) return { issue: `too many arguments: ${rest.join(' ')}` };
  if (name === 'schema') return { name, config };
  if (!WITH_SETTINGS.includes(name)) return { issue: `there is no command ${name}` };
  return config === '' ? { issue: `${name} needs --config FILE` } : { name: name as Command, config };
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
