import { parseJson } from '../../core/kernel/json-shape.ts';
import { RESOURCES } from '../../core/resources/index.ts';
import type { Description } from '../describe/listing.ts';
import { describeDocument, parseDocumentText } from '../describe/openapi-document.ts';
import { type Ask, findListings } from '../describe/platform-replies.ts';
import type { Credential, CredentialGuess } from '../guess/guess-credential.ts';
import { DOCUMENT, REPLIES } from '../input-bounds.ts';
import { baseUrlOf, isUnusable } from './base-url.ts';
import { fetchText, readTextFile, SourceError, type TextReply } from './fetch-text.ts';

export interface Source {
  readonly description: Description;
  readonly sent?: string;
}

/** Reads the OpenAPI document of a platform, from a file or a URL. Throws {@link SourceError}. */
export async function readDocument(openapi: string, api: URL | undefined, token: string): Promise<Source> {
  if (!isUrl(openapi)) return { description: describe(openapi, await readTextFile(openapi, DOCUMENT.maxBytes)) };
  const url = httpUrl(openapi, '--openapi');
  const place = shown(openapi);
  const reply = await fetchText(url, DOCUMENT);
  if (isRefused(reply) && token === '') throw needsToken(place, reply);
  if (reply.status !== 200 && !isRefused(reply)) throw new SourceError(`${place} answered with ${reply.status}`);
  const description = isRefused(reply) ? undefined : describe(openapi, reply.text);
  if (description !== undefined && (token === '' || !isOfPlatform(url, description, api))) return { description };
  const own = await fetchText(url, DOCUMENT, { authorization: `Bearer ${token}` });
  const how = 'PORTICO_TOKEN as Authorization: Bearer';
  if (own.status === 200) return { description: describe(openapi, own.text), sent: `Read ${place} with ${how}.` };
  if (description === undefined) throw new SourceError(`${place} refused ${how} (${own.status})`);
  return { description, sent: `Read ${place} without a token: it answered ${own.status} to ${how}.` };
}

/** Describes a platform by its own replies. Throws {@link SourceError}. */
export async function askForLists(api: URL | undefined, token: string): Promise<Source> {
  if (api === undefined) throw new SourceError('init needs --openapi FILE or URL, or --from URL');
  const { ask, credential } = await askPlatform(api, token);
  const listings = await findListings(ask, api.pathname, RESOURCES);
  return { description: { title: '', server: '', listings, credentialFor: () => credential } };
}

/** Whether a document is published by the platform itself, which receives the token anyway. */
function isOfPlatform(url: URL, { server }: Description, api: URL | undefined): boolean {
  return baseUrlOf(server, { api: api?.href, document: url.href }).origin === url.origin;
}

function describe(openapi: string, text: string): Description {
  const description = describeDocument(parseDocumentText(text));
  if (description !== undefined) return description;
  throw new SourceError(`${shown(openapi)} is not an OpenAPI document (2.0, 3.0 or 3.1) in JSON or YAML`);
}

/** Returns a file name or URL without its query, which can be secret. */
export function shown(source: string): string {
  const url = isUrl(source) ? URL.parse(source) : null;
  return url === null ? source : `${url.origin}${url.pathname}`;
}

export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** Parses a URL of the command line. Throws {@link SourceError}. */
export function httpUrl(text: string, option: string): URL {
  const url = isUrl(text) ? URL.parse(text) : null;
  if (url === null || isUnusable(text) || url.username !== '' || url.password !== '') {
    throw new SourceError(`${option} needs an http or https URL without user and password`);
  }
  return url;
}

type Headers = Readonly<Record<string, string>>;

const PASSTHROUGH = { kind: 'passthrough' } as const;

/** Forms of a credential, the commonest first: the name of a header, and what precedes the token in it. */
const FORMS: readonly (readonly [header: string, word: string, credential: Credential])[] = [
  ['Authorization', 'Bearer', PASSTHROUGH],
  ['X-Api-Key', '', { kind: 'header', name: 'X-Api-Key' }],
  ['Authorization', 'Token', { kind: 'header', name: 'Authorization', format: 'Token {token}' }],
];

/** Requests `url` with the token in one header after the other until it is accepted. It goes to that origin only. */
async function askPlatform(url: URL, token: string) {
  const get = (target: URL, headers: Headers) => fetchText(target, REPLIES, { accept: 'application/json', ...headers });
  const { headers, credential } = await findHeader(url, token, get);
  const endMs = Date.now() + REPLIES.totalMs;
  let requests = 1;
  const ask: Ask = async (path, query = {}) => {
    requests += 1;
    if (requests > REPLIES.requests || Date.now() > endMs) return undefined;
    const target = new URL(path, url.origin);
    for (const [name, value] of Object.entries(query)) target.searchParams.append(name, value);
    try {
      const { status, headers: received, text } = await get(target, headers);
      return { status, headers: new Map(received), body: parseJson(text) };
    } catch (error) {
      if (error instanceof SourceError) return undefined;
      throw error;
    }
  };
  return { ask, credential };
}

async function findHeader(url: URL, token: string, get: (target: URL, headers: Headers) => Promise<TextReply>) {
  const place = `${url.origin}${url.pathname}`;
  const target = new URL(place);
  if (token === '') {
    const reply = await get(target, {});
    if (isRefused(reply)) throw needsToken(place, reply);
    const doubts = ['which header takes the token: the platform was read without one'];
    const credential: CredentialGuess = { credential: PASSTHROUGH, why: 'the usual header', doubts };
    return { headers: {}, credential };
  }
  const tried: string[] = [];
  for (const [header, word, credential] of FORMS) {
    const name = word === '' ? header : `${header}: ${word}`;
    const headers = { [header]: `${word} ${token}`.trim() };
    const reply = await get(target, headers);
    const why = `the platform accepted the token as ${name}`;
    if (!isRefused(reply)) return { headers, credential: { credential, why, doubts: [] } };
    tried.push(name);
  }
  throw new SourceError(
    `${place} refused the token in PORTICO_TOKEN as ${tried.join(', as ')}; for another header, write the settings by hand, with credential: { kind: header, name: … }`,
  );
}

function isRefused({ status }: TextReply): boolean {
  return status === 401 || status === 403;
}

function needsToken(place: string, { status }: TextReply): SourceError {
  return new SourceError(`${place} requires a credential (${status}): put a token into PORTICO_TOKEN`);
}
