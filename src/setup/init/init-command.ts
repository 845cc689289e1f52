import { readFile, writeFile } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
import { RESOURCES } from '../../core/resources/index.ts';
import { DOCUMENT } from '../input-bounds.ts';
import { findCandidates, type ResourceCandidates } from './candidates.ts';
import { readCredential } from './credential-evidence.ts';
import { type Api, describeApi, parseDocumentText } from './openapi-document.ts';
import { oneLine, type Proposal, writeSettings } from './settings-text.ts';

interface InitOptions {
  /** OpenAPI document: a file, or an http or https URL. */
  readonly openapi: string;
  /** The settings file to write. An existing file is not replaced. */
  readonly file: string;
}

/** A problem with a file or an address that a person named. The message is a sentence for them. */
class SourceError extends Error {
  override readonly name = 'SourceError';
}

/** Runs `portico init`. Resolves with the exit code. */
export async function runInit(options: InitOptions): Promise<number> {
  try {
    process.stdout.write(await initSettings(options));
    return 0;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    process.stderr.write(`portico: ${error.message.replace(/[^\P{Cc}\n]+/gu, ' ')}\n`);
    return 1;
  }
}

/** Writes a settings file from an OpenAPI document. Resolves with what to print. Throws {@link SourceError}. */
export async function initSettings({ openapi, file }: InitOptions): Promise<string> {
  const url = /^https?:\/\//i.test(openapi) ? parseUrl(openapi) : undefined;
  const source = url === undefined ? openapi : `${url.origin}${url.pathname}`;
  const text = await readSource(url ?? openapi).catch((error: unknown) => {
    throw new SourceError(`${source} cannot be read: ${reasonOf(error)}`);
  });
  const api = describeApi(parseDocumentText(text));
  if (api === undefined)
    throw new SourceError(`${source} is not an OpenAPI document (2.0, 3.0 or 3.1) in JSON or YAML`);
  const base = baseUrlOf(api.server, url);
  const proposal = propose(api, source, base.replace(/\/$/, ''));
  await writeNew(file, writeSettings(proposal));
  return [
    `${file}: written from ${source}`,
    ...proposal.resources.map(summaryOf),
    ...(proposal.credential.credential === undefined
      ? [`  credential: not clear: ${oneLine(proposal.credential.seen)}`]
      : []),
    ...(base.includes(SERVER) ? [`Set ${SERVER} to the server, such as https://platform.example.com.`] : []),
    `Then:\n  portico check ${file}\n  PORTICO_TOKEN=… portico check --probe ${file}\n`,
  ].join('\n');
}

/** Proposes settings for all resources, and a credential that fits the operations of the likeliest lists. */
export function propose(api: Api, source: string, baseUrl: string): Proposal {
  const resources = findCandidates(api, RESOURCES);
  const found = resources.flatMap(({ clear, candidates }) => (clear ?? candidates[0])?.operation ?? []);
  return { title: api.title, source, baseUrl, credential: readCredential(api, found), resources };
}

function summaryOf({ resource, candidates, clear }: ResourceCandidates): string {
  if (clear !== undefined) return `  ${resource.name}: GET ${oneLine(clear.operation.path)}`;
  const { length } = candidates;
  if (length === 0) return `  ${resource.name}: disabled, no list in the document looks like it`;
  return `  ${resource.name}: disabled, no choice is clear; ${length === 1 ? 'the candidate is' : `the best ${length} are`} in the file, commented out`;
}

const SERVER = 'PLATFORM_URL';

/** Hosts that documents use for the reader's own: a token must not go there. */
const EXAMPLE =
  /^(?:localhost|127\..*|[^.]*)$|(?:^|[.-])(?:example|your|my|domain|subdomain|tenant|instance)(?:[.-]|$)/;

/** Returns the server of a document, which may be relative to it; a placeholder becomes a reference to the environment. */
function baseUrlOf(server: string, document: URL | undefined): string {
  const url = server.includes('{') ? null : URL.parse(server, document);
  const isExample = URL.canParse(server) && EXAMPLE.test(url?.hostname ?? '');
  if (url !== null && /^https?:$/.test(url.protocol) && !isExample) return url.origin + url.pathname;
  const [path = ''] = server.replace(/^[a-z]+:\/\/[^/]*/i, '').split(/[?#]/);
  return `\${${SERVER}}${/^\/[\w/.@~-]*$/.test(path) ? path : ''}`;
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new SourceError('--openapi needs an http or https URL without user and password');
  }
  return url;
}

/** Reads a file, or sends one `GET` without a credential that follows no redirect. */
async function readSource(source: string | URL): Promise<string> {
  if (typeof source === 'string') return readFile(source, 'utf8');
  const response = await fetch(source, { signal: AbortSignal.timeout(DOCUMENT.timeoutMs), redirect: 'manual' });
  if (response.status === 200) return response.text();
  await response.body?.cancel();
  throw new Error(`answered with ${response.status}: download the document and name the file`);
}

/** Returns the words for an error of Node, which has them in its cause for a request. */
function reasonOf(error: unknown): string {
  const { errno, code, message, cause } = error as NodeJS.ErrnoException;
  if (cause instanceof Error) return reasonOf(cause);
  return errno === undefined ? (code ?? message) : getSystemErrorMessage(errno);
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const why = isThere ? 'exists and is not replaced' : `cannot be written: ${reasonOf(error)}`;
    throw new SourceError(`${file} ${why}; name another FILE`);
  }
}
