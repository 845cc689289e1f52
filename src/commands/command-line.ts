import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export const USAGE = `Usage: portico COMMAND [FILE]

  portico serve [FILE]    serve the platform that FILE describes, over HTTP
                              portico serve portico.yaml
      --workers N         that many processes behind one port; auto: one for each processor core
  portico stdio [FILE]    answer MCP on standard input and output, with one token
                              PORTICO_TOKEN=… portico stdio portico.yaml
  portico check [FILE]    say all that is wrong in FILE, or what it offers
                              portico check portico.yaml
      --full              print every setting that takes effect, too, secrets masked
      --probe             read the platform with the token in PORTICO_TOKEN, and show what comes (--json: as JSON)
                              PORTICO_TOKEN=… portico check --probe portico.yaml
                              for a header of credential.from, such as X-Acme-Token: PORTICO_HEADER_X_ACME_TOKEN=…
      --baseline FILE     with --probe: compare the lists with what FILE has of them; record it if there is no FILE
                              portico check --probe --strict --baseline lists.json portico.yaml
      --update-baseline   with --baseline: record the lists in FILE, whatever it has of them
      --strict            with --probe: fail on each warning, too, and on what could not be tried
      --allow-post        with --probe: send a POST that settings do not declare harmless (retryPost); it may write
  portico init [FILE]     propose settings for a platform, from its OpenAPI document, and write them to FILE
                              portico init --openapi https://platform.example.com/openapi.json
      --openapi FILE      the document; a URL, too
      --from URL          address of the API; without a document, one of its lists, read with PORTICO_TOKEN
      --yes               no questions: take the best guesses
  portico schema          print the JSON Schema of settings files, for editors
                              portico schema > portico.schema.json
  portico --demo          serve the embedded demo platform
                              PORT=8081 ADMIN_PORT=9091 portico --demo
  portico --help | --version

FILE is ./portico.yaml unless it is named; --config FILE names it, too. A bare "portico" is "portico serve".
config/default.yaml and docs/configuration.md describe every setting.
`;

export type Command = 'serve' | 'stdio' | 'check' | 'init' | 'schema' | 'demo' | 'help' | 'version';

type Values = ReturnType<typeof parse>['values'];

export interface ParsedCommand
  extends Pick<Values, 'full' | 'probe' | 'json' | 'strict' | 'baseline' | 'openapi' | 'from' | 'yes'> {
  readonly name: Command;
  readonly file?: string | undefined;
  readonly allowPost?: boolean | undefined;
  readonly updateBaseline?: boolean | undefined;
  readonly workers?: number | undefined;
}

const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  serve: ['config', 'workers'],
  stdio: ['config'],
  check: ['config', 'full', 'probe', 'json', 'strict', 'allow-post', 'baseline', 'update-baseline'],
  init: ['config', 'openapi', 'from', 'yes'],
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
  const { help, version, demo, config = [], workers: count, ...options } = values;
  if (help === true) return { name: 'help' };
  if (version === true) return { name: 'version' };
  if (demo === true) return args.length === 1 ? { name: 'demo' } : { issue: '--demo takes no other argument' };
  const [name = 'serve', ...rest] = positionals;
  const files = [...config, ...rest];
  const workers = workersOf(count);
  const issue = issueOf(name, values, files);
  if (issue !== undefined) return { issue };
  if (workers === undefined) return { issue: `--workers is auto, or a number from 1 to ${MAX_WORKERS}` };
  const { 'allow-post': allowPost, 'update-baseline': updateBaseline, ...others } = options;
  const named = count === undefined ? undefined : workers;
  return { ...others, name: name as Command, file: files[0], allowPost, updateBaseline, workers: named };
}

function issueOf(name: string, values: Values, files: readonly string[]) {
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  if (options === undefined) return `there is no command ${name}`;
  const other = Object.keys(values).find((option) => !options.includes(option));
  if (other !== undefined) return `${name} takes no --${other}`;
  const most = options.includes('config') ? 1 : 0;
  if (files.length > most) return `too many arguments: ${files.slice(most).join(' ')}`;
  const { probe, full, baseline, 'update-baseline': updateBaseline, openapi = '', from = '' } = values;
  const alone = (['json', 'strict', 'allow-post', 'baseline', 'update-baseline'] as const).find(
    (option) => values[option] !== undefined && !probe,
  );
  if (alone !== undefined) return `--${alone} goes with --probe`;
  if (full && probe) return '--full and --probe exclude each other';
  if (updateBaseline && baseline === undefined) return '--update-baseline goes with --baseline FILE';
  return name === 'init' && openapi + from === '' ? 'init needs --openapi FILE or --from URL' : undefined;
}

const MAX_WORKERS = 128;

function workersOf(text = '1'): number | undefined {
  const workers = text === 'auto' ? availableParallelism() : Number(/^\d+$/.exec(text)?.[0]);
  return workers >= 1 && workers <= MAX_WORKERS ? workers : undefined;
}

const PARSED = {
  config: { type: 'string', short: 'c', multiple: true },
  full: { type: 'boolean' },
  probe: { type: 'boolean' },
  json: { type: 'boolean' },
  strict: { type: 'boolean' },
  'allow-post': { type: 'boolean' },
  baseline: { type: 'string' },
  'update-baseline': { type: 'boolean' },
  workers: { type: 'string' },
  openapi: { type: 'string' },
  from: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  demo: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

function parse(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options: PARSED });
}
