import { RESOURCES } from '../../core/resources/index.ts';
import type { Description } from '../describe/listing.ts';
import { describeDocument, parseDocumentText } from '../describe/openapi-document.ts';
import { findListings } from '../describe/platform-replies.ts';
import { DOCUMENT } from '../input-bounds.ts';
import { askPlatform, isRefused, needsToken } from './asked-platform.ts';
import { baseUrlOf, isUnusable } from './base-url.ts';
import { fetchText, readTextFile, SourceError } from './fetch-text.ts';

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

export function httpUrl(text: string, option: string): URL {
  const url = isUrl(text) ? URL.parse(text) : null;
  if (url === null || isUnusable(text) || url.username !== '' || url.password !== '') {
    throw new SourceError(`${option} needs an http or https URL without user and password`);
  }
  return url;
}
