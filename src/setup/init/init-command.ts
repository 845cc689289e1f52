import { writeFile } from 'node:fs/promises';
import { type Environment, processEnvironment } from '../../core/config/environment.ts';
import { RESOURCES } from '../../core/resources/index.ts';
import { type BaseUrl, baseUrlOf, isUnusable, UPSTREAM } from './base-url.ts';
import { SourceError } from './fetch-text.ts';
import { chooseListings, openTerminal, type Person } from './person.ts';
import { propose } from './proposal.ts';
import { writeSettings } from './settings-text.ts';
import { askForLists, httpUrl, isUrl, readDocument, type Source, shown } from './source.ts';

export interface InitOptions {
  readonly openapi: string | undefined;
  readonly from: string | undefined;
  /** The settings file to write. An existing file is not replaced. */
  readonly file: string;
}

export interface InitContext {
  readonly environment?: Environment;
  /** Answers questions. Undefined: the best guesses are taken. */
  readonly person?: Person | undefined;
  print(text: string): void;
  /** Reads what a settings file offers, with the token of the environment. Resolves with whether all could be read. */
  probe(file: string): Promise<boolean>;
}

/** Runs `portico init` on this terminal, or with the best guesses if `yes`. Resolves with the exit code. */
export async function runInit(options: InitOptions, yes: boolean): Promise<number> {
  const { stdin: input, stdout: output } = process;
  output.on('error', () => {}); // A closed pipe does not keep the file from being written.
  const print = (text: string) => output.write(text);
  const person = !yes && input.isTTY && output.isTTY ? openTerminal(input, output, () => process.exit()) : undefined;
  const probe = async (file: string) => {
    const { runProbe } = await import('../probe/probe-command.ts');
    const { loadSettings } = await import('../../composition.ts');
    const { text, ok } = await runProbe(file, await loadSettings(file));
    print(text);
    return ok;
  };
  try {
    return await initSettings(options, { person, print, probe });
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    process.stderr.write(`portico: ${error.message.replace(/[^\P{Cc}\n]+/gu, ' ')}\n`);
    return 1;
  } finally {
    person?.close();
  }
}

/** Proposes a settings file, writes it, and probes it if nothing is missing. Resolves with the exit code. Throws {@link SourceError}. */
export async function initSettings({ openapi, from, file }: InitOptions, context: InitContext): Promise<number> {
  const { environment = processEnvironment(), person, print } = context;
  const token = environment['PORTICO_TOKEN'] ?? '';
  if (!/^[\x21-\x7e]*$/.test(token))
    throw new SourceError('PORTICO_TOKEN contains characters that a header cannot carry');
  const api = from === undefined ? undefined : httpUrl(from, '--from');
  const name = shown(openapi ?? from ?? '');
  const source = openapi === undefined ? await askForLists(api, token) : await readDocument(openapi, api, token);
  const { description, sent } = source;
  if (api === undefined && isUnusable(description.server)) {
    throw new SourceError(`${name}: the server that it names is not an http or https URL; name it with --from`);
  }
  const chosen = person && (await chooseListings(propose(description, RESOURCES), person));
  const proposal = propose(description, RESOURCES, chosen);
  // Paths of lists that were found by requests begin at the origin.
  const typed =
    openapi === undefined ? { api: api?.origin } : { api: api?.href, ...(isUrl(openapi) && { document: openapi }) };
  const place = baseUrlOf(description.server, typed);
  const { text, offered, doubts, variables } = writeSettings(description, proposal, place, name);
  if (offered.length === 0) {
    throw new SourceError(`${name}: ${whyNothing(source)}; config/examples/ has files to start from`);
  }
  await write(file, text);
  const missing = [...variables].filter(([variable]) => environment[variable] === undefined);
  const lines = [
    `${file}: proposes ${offered.join(', ')} of ${UPSTREAM}`,
    ...doubts.map((doubt) => `  check ${doubt}`),
    ...(missing.length > 0 ? ['Set first:'] : []),
    ...missing.map(([variable, what]) => `  export ${variable}=…   # ${what}`),
    ...(sent === undefined ? [] : [sent]),
  ];
  print(`${lines.join('\n')}\n`);
  if (missing.length === 0 && token !== '' && isTyped(place, [openapi, from])) {
    return (await context.probe(file)) ? 0 : 1;
  }
  print(`Then:\n  portico check ${file}\n  PORTICO_TOKEN=… portico check --probe ${file}\n`);
  return 0;
}

function whyNothing({ description }: Source): string {
  const { length } = description.listings;
  if (length === 0) return 'no list was found';
  const which = length === 1 ? 'the one list there does not fit' : `none of the ${length} lists fits`;
  const names = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(RESOURCES.map(({ name }) => name));
  return `${which} ${names} with a known way of paging`;
}

/** Whether a person typed the origin of the API: on the command line, or in the environment. */
function isTyped({ origin }: BaseUrl, typed: readonly (string | undefined)[]): boolean {
  return origin === undefined || typed.some((each) => each !== undefined && URL.parse(each)?.origin === origin);
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'exists and is not replaced' : `cannot be written (${code})`;
    throw new SourceError(`${file} ${why}; name another FILE`);
  }
}
