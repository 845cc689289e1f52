import { writeFile } from 'node:fs/promises';
import { type Environment, processEnvironment } from '../../core/config/environment.ts';
import { loadConfig } from '../../core/config/load-config.ts';
import { ConfigError } from '../../core/config/mistakes/config-error.ts';
import { RESOURCES } from '../../core/resources/index.ts';
import { describeByAsking } from '../description/asking.ts';
import { type Description, readDescription } from '../description/document.ts';
import { parseText } from '../description/parse.ts';
import { propose } from '../proposal.ts';
import { isUnusable, type Place, placeOf } from '../settings/place.ts';
import { type SettingsText, writeSettings } from '../settings/settings-text.ts';
import { openPlatform } from './platform.ts';
import { type Person, settleDoubts } from './questions.ts';
import { getRemote, type RemoteReply, readLocal, SourceError } from './remote.ts';

export interface InitOptions {
  /** File or URL of an OpenAPI document. */
  readonly openapi: string | undefined;
  /** Where the API lives; without a document, it is asked what it has. */
  readonly from: string | undefined;
  /** The settings file to write; never one that is there already. */
  readonly file: string;
}

export interface InitSurroundings {
  readonly environment?: Environment;
  /** Who answers questions; `undefined` where the best guess is to be taken. */
  readonly person?: Person | undefined;
  print(text: string): void;
  /** Reads what a settings file offers, with the token in the environment. Whether all could be read. */
  probe(file: string): Promise<boolean>;
}

const MAX_DOCUMENT_BYTES = 33_554_432;
const DOCUMENT_TIMEOUT_MS = 30_000;

/**
 * Proposes a settings file for a platform, from its OpenAPI document or its own replies, writes it, and probes it where
 * nothing is missing for that. Resolves with the exit code of the process: 1 where the platform could not be read with it.
 * Throws {@link SourceError} where there was nothing to propose.
 */
export async function initSettings(options: InitOptions, surroundings: InitSurroundings): Promise<number> {
  const { environment = processEnvironment(), person, print } = surroundings;
  const { openapi, from, file } = options;
  const told = from === undefined ? undefined : httpUrl(from, '--from');
  const source = shown(openapi ?? from ?? '');
  const { description, said, sent } =
    openapi === undefined ? await ask(told, environment) : await read(openapi, told, environment);
  if (told === undefined && isUnusable(description.server)) {
    throw new SourceError(`${source}: the server that it names is no http or https URL: name it with --from`);
  }
  const chosen = person === undefined ? new Map() : await settleDoubts(propose(description, RESOURCES), person);
  const proposal = propose(description, RESOURCES, chosen);
  const place = placeOf(proposal.title, proposal.server, placed(openapi, told));
  const isMissing = proposal.resources.some(({ found }) => found === undefined);
  const maybeSubset = openapi !== undefined && isUrl(openapi) && sent === undefined && isMissing;
  const settings = writeSettings(proposal, place, source);
  if (settings.offered.length === 0) {
    const subset = maybeSubset ? `; ${SUBSET}` : '';
    throw new SourceError(
      `${source}: ${nothingIn(description, said)}; config/examples/ shows files to begin with${subset}`,
    );
  }
  await write(file, settings.text);
  await checkWritten(file, settings, environment);
  const missing = [...settings.variables].filter(([name]) => environment[name] === undefined);
  print(report(file, settings, place, missing));
  if (sent !== undefined) print(`${sent}\n`);
  if (maybeSubset) print(`  look at ${source}: ${SUBSET}\n`);
  const isReady = missing.length === 0 && (environment['PORTICO_TOKEN'] ?? '') !== '';
  if (isReady && (isNamed(place, [openapi, from]) || (await mayHaveToken(place, person)))) {
    return (await surroundings.probe(file)) ? 0 : 1;
  }
  print(`Then:\n  portico check ${file}\n  PORTICO_TOKEN=… portico check --probe ${file}\n`);
  return 0;
}

/** Some platforms show callers without a token the document of what is public, with status 200. */
const SUBSET = 'the document may be a public subset, since it was read without a token: set PORTICO_TOKEN';

/** `said`: what the platform answered with at the address that was named. */
function nothingIn({ listings }: Description, said: string | undefined): string {
  if (listings.length === 0)
    return `no list was found there${said === undefined ? '' : `, which answers with ${said}`}`;
  const which =
    listings.length === 1 ? 'the one list there does not seem' : `none of the ${listings.length} lists seems`;
  const few = said === undefined ? '' : '; one of fewer than two items does not tell how it is paged';
  const names = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(RESOURCES.map(({ name }) => name));
  return `${which} to be of ${names} whose pages could be read${few}`;
}

/** Whether a person named the origin of the API: on the command line, or in the environment. */
function isNamed({ origin }: Place, typed: readonly (string | undefined)[]): boolean {
  return origin === undefined || typed.some((source) => source !== undefined && URL.parse(source)?.origin === origin);
}

/** Whether the token may go to an address that nobody typed: the document names it. */
async function mayHaveToken({ origin }: Place, person: Person | undefined): Promise<boolean> {
  const typed = await person?.answer(`Send the token in PORTICO_TOKEN to ${origin}, to see what comes? [y/N] `);
  return /^y(?:es)?$/i.test(typed?.trim() ?? '');
}

/** Where to look for the API: with a document, where a person said, or relative to the document. */
function placed(openapi: string | undefined, told: URL | undefined): { told?: string; from?: string } {
  // Lists that were found by asking have paths from the origin on.
  if (openapi === undefined) return told === undefined ? {} : { told: told.origin };
  return { ...(told !== undefined && { told: told.href }), ...(isUrl(openapi) && { from: openapi }) };
}

/** What is known of a platform, and what it answered with where it was asked. */
interface Source {
  readonly description: Description;
  readonly said?: string;
  /** How the document was asked for with the token, in a sentence. */
  readonly sent?: string;
}

async function read(openapi: string, told: URL | undefined, environment: Environment): Promise<Source> {
  if (!isUrl(openapi)) return { description: described(openapi, await readLocal(openapi, MAX_DOCUMENT_BYTES)) };
  const url = httpUrl(openapi, '--openapi');
  const token = environment['PORTICO_TOKEN'] ?? '';
  const place = `${url.origin}${url.pathname}`;
  const reply = await getDocument(url);
  const isRefused = [401, 403].includes(reply.status);
  if (isRefused && token === '') {
    throw new SourceError(`${place} asks for a credential (${reply.status}): put a token into PORTICO_TOKEN`);
  }
  if (reply.status !== 200 && !isRefused) throw new SourceError(`${place} answered with ${reply.status}`);
  const description = isRefused ? undefined : described(openapi, reply.text);
  if (token === '' || (description !== undefined && !isOfPlatform(url, description, told))) {
    return { description: description ?? described(openapi, reply.text) };
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new SourceError('PORTICO_TOKEN holds what no header can');
  const own = await getDocument(url, { authorization: `Bearer ${token}` });
  if (own.status === 200) {
    const sent = `Read ${place} with the token of PORTICO_TOKEN as Authorization: Bearer.`;
    return { description: described(openapi, own.text), sent };
  }
  if (description !== undefined) {
    const sent = `Read ${place} without a token: it answered ${own.status} to PORTICO_TOKEN as Authorization: Bearer.`;
    return { description, sent };
  }
  throw new SourceError(`${place} refused the token of PORTICO_TOKEN as Authorization: Bearer (${own.status})`);
}

/** Whether a document comes from the platform itself, which is given the token anyway: not from where others publish it. */
function isOfPlatform(url: URL, { title, server }: Description, told: URL | undefined): boolean {
  return (
    placeOf(title, server, { from: url.href, ...(told !== undefined && { told: told.href }) }).origin === url.origin
  );
}

function getDocument(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<RemoteReply> {
  return getRemote(url, { headers, maxBytes: MAX_DOCUMENT_BYTES, timeoutMs: DOCUMENT_TIMEOUT_MS });
}

function described(openapi: string, text: string): Description {
  const description = readDescription(parseText(text));
  if (description === undefined)
    throw new SourceError(`${shown(openapi)} is no OpenAPI document (2.0, 3.0 or 3.1) in JSON or YAML`);
  return description;
}

async function ask(url: URL | undefined, environment: Environment): Promise<Source> {
  if (url === undefined) throw new SourceError('init needs --openapi FILE or URL, or --from URL');
  const platform = await openPlatform(url, environment['PORTICO_TOKEN'] ?? '');
  const description = await describeByAsking(platform.ask, url.pathname, RESOURCES);
  return { description: { ...description, credential: platform.credential }, said: platform.said };
}

/** A file or URL as it may be shown and written down: what follows the path may be secret. */
function shown(source: string): string {
  const url = isUrl(source) ? URL.parse(source) : null;
  return url === null ? source : `${url.origin}${url.pathname}`;
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

function httpUrl(text: string, option: string): URL {
  const url = isUrl(text) ? URL.parse(text) : null;
  if (url === null || isUnusable(text) || url.username !== '' || url.password !== '') {
    throw new SourceError(`${option} needs an http or https URL without user and password`);
  }
  return url;
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'is there already, and is left as it is' : `cannot be written (${code})`;
    throw new SourceError(`${file} ${why}: name another FILE`);
  }
}

function report(
  file: string,
  { offered, doubts }: SettingsText,
  place: Place,
  missing: readonly (readonly [string, string])[],
): string {
  const lines = [
    `${file}: proposes ${offered.join(', ')} of ${place.name}`,
    ...doubts.map((doubt) => `  look at ${doubt}`),
    ...(missing.length > 0 ? ['Set first:', ...missing.map(([name, what]) => `  export ${name}=…   # ${what}`)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Holds what was written against the settings schema. Only what the environment lacks may be wrong with it. */
async function checkWritten(file: string, { variables }: SettingsText, environment: Environment): Promise<void> {
  const examples = Object.fromEntries(
    [...variables.keys()].map((name) => [name, name.endsWith('_URL') ? 'http://a.example' : 'x']),
  );
  try {
    await loadConfig(file, { ...examples, ...environment });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new SourceError(`the proposal has mistakes that portico init should not make:\n${error.message}`);
  }
}
