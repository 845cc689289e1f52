import { escapeReferences } from './yaml-text.ts';

/** Where an API lives, as settings have it. */
export interface Place {
  /** Of the upstream, and so of its environment variables. */
  readonly name: string;
  /** The setting `baseUrl`; may refer to the environment. */
  readonly baseUrl: string;
  /** The origin, where it is known. */
  readonly origin: string | undefined;
  /** The environment variable that says where the server is, where a person has to. */
  readonly variable: string | undefined;
}

/** Words of a title that name no platform. */
const NO_NAMES =
  /^(?:the|an?|official|open|public|rest|restful|http|web|admin|api|apis|openapi|swagger|docs?|documentation|reference|server|service|specification|spec|untitled|fastapi|v\d.*|\d.*)$/;

/** The place that a document names, or the one that a person has: `told` for the API itself, `from` for the document. */
export function placeOf(title: string, server: string, { told, from }: { told?: string; from?: string } = {}): Place {
  const url = told === undefined ? urlOf(server, from) : urlOf(told, undefined);
  const name = nameOf(title, told ?? (url === undefined || isExample(url) ? from : url.href));
  // An address of this machine in a document stands for the reader's own; one that a person typed is meant.
  if (url !== undefined && (told !== undefined || !URL.canParse(server) || !isExample(url))) {
    const baseUrl = url.href.replace(/\/$/, '');
    return { name, baseUrl: escapeReferences(baseUrl), origin: url.origin, variable: undefined };
  }
  const variable = variableOf(name, 'URL');
  return { name, baseUrl: `\${${variable}}${pathOf(server)}`, origin: undefined, variable };
}

/** A name for an environment variable: `GITHUB_OWNER`. */
export function variableOf(...parts: readonly string[]): string {
  const words = parts.map((part) => part.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_'));
  return words.join('_').replace(/_+/g, '_').replace(/^_|_$/g, '').toUpperCase();
}

function urlOf(server: string, from: string | undefined): URL | undefined {
  if (server.includes('{') || !URL.canParse(server, from)) return undefined;
  const url = new URL(server, from);
  // Neither user nor query belongs into settings. The path is kept as it was parsed: read once more, `//a` were a host.
  Object.assign(url, { username: '', password: '', search: '', hash: '' });
  return /^https?:$/.test(url.protocol) ? url : undefined;
}

/**
 * Whether an address can be that of no server: it holds what URLs do not, has another scheme than http or https, or is
 * not a URL. An address that is relative, or holds variables, is completed by a person.
 */
export function isUnusable(server: string): boolean {
  if (/[\\\p{Cc}]/u.test(server)) return true;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(server)?.[1];
  if (scheme === undefined) return false;
  return !/^https?$/i.test(scheme) || (!server.includes('{') && !URL.canParse(server));
}

/** Whether a host is one that stands in documents for the reader's own. */
function isExample({ hostname }: URL): boolean {
  const local = /^(?:localhost|0\.0\.0\.0|127\..*|\[::1?\]|host\.docker\.internal)$/.test(hostname);
  return (
    local ||
    !hostname.includes('.') ||
    /(?:^|[.-])(?:example|your|my|domain|subdomain|tenant|instance)(?:[.-]|$)/.test(hostname)
  );
}

/** The path of a server address that may hold variables. */
function pathOf(server: string): string {
  const path = server
    .replace(/^[a-z]+:\/\/[^/]*/i, '')
    .replace(/[?#].*$/s, '')
    .replace(/\/+$/, '');
  return /^\/[\w/.@~-]*$/.test(path) ? path : '';
}

function nameOf(title: string, url: string | undefined): string {
  const host = url !== undefined && URL.canParse(url) ? new URL(url).hostname : '';
  const labels = /^[\d.]+$|^\[/.test(host) ? [] : host.split('.').slice(0, -1).toReversed();
  const words = [
    ...title
      .toLowerCase()
      .replace(/'s\b/g, '')
      .split(/[^a-z0-9]+/),
    ...labels,
  ];
  const name = words.find((word) => /^[a-z][a-z0-9-]*$/.test(word) && !NO_NAMES.test(word) && !(word in {}));
  return name?.slice(0, 32) ?? 'platform';
}
