import type { Scalar } from 'yaml';
import { escapeReferences, oneLine, referring } from './yaml-text.ts';

/** Where an API lives, as settings have it. */
export interface BaseUrl {
  /** Name of the upstream, and prefix of its environment variables. */
  readonly name: string;
  /** The setting `baseUrl`; can refer to the environment. */
  readonly baseUrl: string;
  /** Undefined if the environment has to name the server, in `variable`. */
  readonly origin: string | undefined;
  readonly variable: string | undefined;
}

/** Words of a title that do not name a platform. */
const GENERIC =
  /^(?:the|an?|official|open|public|rest|restful|http|web|admin|api|apis|openapi|swagger|docs?|documentation|reference|server|service|specification|spec|untitled|fastapi|v\d.*|\d.*)$/;
/** Hosts that documents use for the reader's own. */
const EXAMPLE =
  /^(?:localhost|0\.0\.0\.0|127\..*|\[::1?\]|host\.docker\.internal|[^.]*)$|(?:^|[.-])(?:example|your|my|domain|subdomain|tenant|instance)(?:[.-]|$)/;

/** Addresses that a person typed: of the API, and of the document. */
export interface TypedUrls {
  readonly api?: string | undefined;
  readonly document?: string | undefined;
}

/** Returns the base URL that a person typed or that a document names. A relative one is relative to the document. */
export function baseUrlOf(title: string, server: string, { api, document }: TypedUrls = {}): BaseUrl {
  const url = parseServer(api ?? server, api === undefined ? document : undefined);
  // An example address in a document is a placeholder for the reader's server; a typed one is meant.
  const isMeant = url !== undefined && (api !== undefined || !EXAMPLE.test(url.hostname));
  const name = nameOf(title, api ?? (isMeant ? url.href : document));
  if (url !== undefined && (isMeant || !URL.canParse(server))) {
    const baseUrl = escapeReferences(url.href.replace(/\/$/, ''));
    return { name, baseUrl, origin: url.origin, variable: undefined };
  }
  const variable = variableOf(name, 'URL');
  return { name, baseUrl: `\${${variable}}${pathOf(server)}`, origin: undefined, variable };
}

export interface Variables {
  /** Meaning by name. */
  readonly all: ReadonlyMap<string, string>;
  /** Adds a variable and returns a reference to it. `other` names it if `name` has another meaning. */
  reference(meaning: string, name: string, other?: string): Scalar;
}

export function createVariables({ name: upstream, variable }: BaseUrl): Variables {
  const all = new Map<string, string>();
  if (variable !== undefined) all.set(variable, 'the server, such as https://platform.example.com');
  return {
    all,
    reference(meaning, name, other = name) {
      const what = oneLine(meaning);
      const usual = variableOf(upstream, name);
      const chosen = (all.get(usual) ?? what) === what ? usual : variableOf(upstream, other);
      all.set(chosen, what);
      return referring(`\${${chosen}}`);
    },
  };
}

/** Returns a name for an environment variable: `GITHUB_OWNER`. */
function variableOf(...parts: readonly string[]): string {
  const words = parts.map((part) => part.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_'));
  return words.join('_').replace(/_+/g, '_').replace(/^_|_$/g, '').toUpperCase();
}

function parseServer(server: string, base: string | undefined): URL | undefined {
  const url = server.includes('{') ? null : URL.parse(server, base);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // Settings hold neither user nor query. The URL is not parsed again: a path `//a` would become a host.
  return Object.assign(url, { username: '', password: '', search: '', hash: '' });
}

/**
 * Whether an address cannot be one of a server: it contains characters that URLs do not, has another scheme than http or https, or
 * is not a URL. One that is relative or contains variables can be completed.
 */
export function isUnusable(server: string): boolean {
  if (/[\\\p{Cc}]/u.test(server)) return true;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(server)?.[1];
  if (scheme === undefined) return false;
  return !/^https?$/i.test(scheme) || (!server.includes('{') && !URL.canParse(server));
}

/** Returns the path of an address that can contain variables. */
function pathOf(server: string): string {
  const [path = ''] = server.replace(/^[a-z]+:\/\/[^/]*/i, '').split(/[?#]/);
  return /^\/[\w/.@~-]*$/.test(path) ? path.replace(/\/+$/, '') : '';
}

function nameOf(title: string, url: string | undefined): string {
  const host = URL.parse(url ?? '')?.hostname ?? '';
  const labels = /^[\d.]+$|^\[/.test(host) ? [] : host.split('.').slice(0, -1).toReversed();
  const words = title
    .toLowerCase()
    .replace(/'s\b/g, '')
    .split(/[^a-z0-9]+/);
  const isName = (word: string) => /^[a-z][a-z0-9-]*$/.test(word) && !GENERIC.test(word) && !(word in {});
  return [...words, ...labels].find(isName)?.slice(0, 32) ?? 'platform';
}
