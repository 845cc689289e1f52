import { parseArgs } from 'node:util';

export const USAGE = `Usage: portico COMMAND [FILE]

  portico serve [FILE]    serve the platform that FILE describes, over HTTP
                              portico serve portico.yaml
  portico stdio [FILE]    speak MCP on standard input and output, with one token
                              PORTICO_TOKEN=… portico stdio portico.yaml
  portico check [FILE]    report every mistake in FILE, or what it offers
                              portico check portico.yaml
      --full              also print all effective settings, with secrets masked
      --probe             read the platform with the token in PORTICO_TOKEN, and show the result (--json: as JSON)
                              PORTICO_TOKEN=… portico check --probe portico.yaml
                              for a header of credential.from, such as X-Acme-Token: PORTICO_HEADER_X_ACME_TOKEN=…
      --strict            with --probe: also fail on warnings and on experiments that could not be run
      --allow-post        with --probe: also send POST requests without retryPost: true, which may write
  portico init [FILE]     propose settings from the OpenAPI document of a platform, and write them to FILE
                              portico init --openapi https://platform.example.com/openapi.json
      --openapi FILE      the document: a file or a URL
  portico schema          print the JSON Schema of settings files, for editors
                              portico schema > portico.schema.json
  portico --demo          serve the embedded demo platform
                              PORT=8081 ADMIN_PORT=9091 portico --demo
  portico --help | --version

FILE defaults to ./portico.yaml and can also be given as --config FILE. "portico" alone means "portico serve".
config/default.yaml and docs/configuration.md describe every setting.
`;

type Command = 'serve' | 'stdio' | 'check' | 'init' | 'schema' | 'demo' | 'help' | 'version';

type Values = ReturnType<typeof parse>['values'];

export interface ParsedCommand extends Pick<Values, 'full' | 'probe' | 'json' | 'strict' | 'openapi'> {
  readonly name: Command;
  readonly file?: string | undefined;
  readonly allowPost?: boolean | undefined;
}

const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  serve: ['config'],
  stdio: ['config'],
  check: ['config', 'full', 'probe', 'json', 'strict', 'allow-post'],
  init: ['config', 'openapi'],
  schema: [],
} satisfies Partial<Record<Command, readonly string[]>>;

export function parseCommandLine(args: string[]): ParsedCommand | { readonly issue: string } {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    // Node's second sentence explains arguments that start with a dash, which does not fit a misspelt option.
    return { issue: (error as Error).message.replace(/\. To specify a positional.*/s, '') };
  }
  const { values, positionals } = parsed;
  const { help, version, demo, config = [], ...options } = values;
  if (help === true || positionals[0] === 'help') return { name: 'help' };
  if (version === true) return { name: 'version' };
  if (demo === true) return args.length === 1 ? { name: 'demo' } : { issue: '--demo takes no other argument' };
  const [name = 'serve', ...rest] = positionals;
  const files = [...config, ...rest];
  const issue = issueOf(name, values, files);
  if (issue !== undefined) return { issue };
  const { 'allow-post': allowPost, ...others } = options;
  return { ...others, name: name as Command, file: files[0], allowPost };
}

function issueOf(name: string, values: Values, files: readonly string[]) {
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  if (options === undefined)
    return `unknown command ${name}${/\.ya?ml$/.test(name) ? `; did you mean serve ${name}?` : ''}`;
  const other = Object.keys(values).find((option) => !options.includes(option));
  if (other !== undefined) return `${name} does not support --${other}`;
  const most = options.includes('config') ? 1 : 0;
  if (files.length > most) return `too many arguments: ${files.slice(most).join(' ')}`;
  const { probe, full, openapi } = values;
  const alone = (['json', 'strict', 'allow-post'] as const).find((option) => values[option] !== undefined && !probe);
  if (alone !== undefined) return `--${alone} needs --probe`;
  if (full && probe) return '--full cannot be combined with --probe';
  return name === 'init' && !openapi ? 'init needs --openapi FILE or URL' : undefined;
}

const PARSED = {
  config: { type: 'string', short: 'c', multiple: true },
  full: { type: 'boolean' },
  probe: { type: 'boolean' },
  json: { type: 'boolean' },
  strict: { type: 'boolean' },
  'allow-post': { type: 'boolean' },
  openapi: { type: 'string' },
  demo: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

function parse(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options: PARSED });
}
