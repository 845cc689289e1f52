import type { Scalar } from 'yaml';
import { escapeReferences, oneLine, referring } from './yaml-text.ts';

export type BaseUrl = ReturnType<typeof baseUrlOf>;

/** Name of the upstream, and prefix of the environment variables. */
export const UPSTREAM = 'platform';
const SERVER = 'PLATFORM_URL';

/** Hosts that documents use for the reader's own. */
const EXAMPLE =
  /^(?:localhost|0\.0\.0\.0|127\..*|\[::1?\]|host\.docker\.internal|[^.]*)$|(?:^|[.-])(?:example|your|my|domain|subdomain|tenant|instance)(?:[.-]|$)/;

export interface TypedUrls {
  readonly api?: string | undefined;
  readonly document?: string | undefined;
}

/**
 * Returns the base URL that a person typed or that a document names, as a setting. A relative one is relative to the document. Without
 * an origin, it refers to the environment.
 */
export function baseUrlOf(server: string, { api, document }: TypedUrls = {}) {
  const url = parseServer(api ?? server, api === undefined ? document : undefined);
  // An example address in a document is a placeholder for the reader's server; a typed one is meant.
  const isMeant = url !== undefined && (api !== undefined || !EXAMPLE.test(url.hostname));
  if (url !== undefined && (isMeant || !URL.canParse(server))) {
    return { baseUrl: escapeReferences(url.href.replace(/\/$/, '')), origin: url.origin };
  }
  return { baseUrl: `\${${SERVER}}${pathOf(server)}`, origin: undefined };
}

export type Variables = ReturnType<typeof createVariables>;

export function createVariables({ origin }: BaseUrl) {
  const all = new Map<string, string>();
  if (origin === undefined) all.set(SERVER, 'the server, such as https://platform.example.com');
  return {
    all,
    /** Adds a variable and returns a reference to it. `other` names it if `name` has another meaning already. */
    reference(meaning: string, name: string, other = name): Scalar {
      const what = oneLine(meaning);
      const usual = variableOf(name);
      const variable = (all.get(usual) ?? what) === what ? usual : variableOf(other);
      all.set(variable, what);
      return referring(`\${${variable}}`);
    },
  };
}

function variableOf(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_');
  return `${UPSTREAM}_${words}`.replace(/_+/g, '_').replace(/_$/, '').toUpperCase();
}

function parseServer(server: string, base: string | undefined): URL | undefined {
  const url = server.includes('{') ? null : URL.parse(server, base);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // Settings hold neither user nor query. The URL is not parsed again: a path `//a` would become a host.
  return Object.assign(url, { username: '', password: '', search: '', hash: '' });
}

/** Whether an address cannot be one of a server. One that is relative or contains variables can be completed. */
export function isUnusable(server: string): boolean {
  if (/[\\\p{Cc}]/u.test(server)) return true;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(server)?.[1];
  if (scheme === undefined) return false;
  return !/^https?$/i.test(scheme) || (!server.includes('{') && !URL.canParse(server));
}

function pathOf(server: string): string {
  const [path = ''] = server.replace(/^[a-z]+:\/\/[^/]*/i, '').split(/[?#]/);
  return /^\/[\w/.@~-]*$/.test(path) ? path.replace(/\/+$/, '') : '';
}
