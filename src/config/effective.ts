import { stringify } from 'yaml';
import type { IsFromEnvironment } from './origins.ts';
import type { Config } from './schema/settings.ts';

/** A name that speaks of a secret, in any case and with any separators: `X-Api-Key`, `access_token`, `Cookie`. */
const SECRET_NAME = /auth|cookie|credential|key|pass|pwd|secret|session|signature|token/i;
/** A value with a scheme of RFC 9110, section 11, ahead of it. */
const WITH_SCHEME = /^(?:apikey|basic|bearer|digest|token) +\S/i;
/** What may be a key, where it holds letters and digits. */
const LONG_WORDS = /[\w+=~-]{20,}/g;
/** A `credential.format` of which nothing is secret. */
const OPEN_FORMAT = /^(?:(?:apikey|basic|bearer|token) +)?\{token\}$/i;
const MASK = '[masked]';
const SECRETS = ['mcp.stdio.token', 'verification.introspection.secret'];

/** What a collector of traces is sent there is a key, most often. */
const COLLECTOR_HEADERS = ['tracing', 'headers'];

/** Blocks whose keys and values are a platform's own words. */
const FREE = ['upstreams.headers', 'resources.body', 'resources.headers', 'resources.pathParams', 'resources.query'];

type Path = readonly string[];

/**
 * Settings as YAML that reads back as the same settings, but for what may be secret: all that the environment put in;
 * headers and query parameters whose name or value speaks of a secret; secrets of a `credential`, and what a
 * `credential.format` adds to the token; a `proxy.password`; the token of `portico stdio`; `tracing.headers`; and
 * `verification.introspection.secret`.
 */
export function effectiveSettings(config: Config, isFromEnvironment: IsFromEnvironment): string {
  const print = (value: unknown, path: Path): unknown => {
    if (isMasked(value, path, isFromEnvironment)) return MASK;
    if (Array.isArray(value)) return value.map((element, index) => print(element, [...path, `${index}`]));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, print(child, [...path, key])]));
    }
    return typeof value === 'string' ? value.replaceAll('${', () => '$${') : value;
  };
  return stringify(print(config, []), { lineWidth: 0 });
}

/** Whether what stands at `path` may be secret. A block may have been written as one scalar. */
export function isMasked(value: unknown, path: Path, isFromEnvironment: IsFromEnvironment): boolean {
  if (value === '') return false;
  return isFromEnvironment(path) || (typeof value === 'string' && isSecret(value, path));
}

/** The words of a text that may be keys: long, of letters and digits. */
export function keysIn(text: string): string[] {
  return (text.match(LONG_WORDS) ?? []).filter(isMixed);
}

function isSecret(value: string, path: Path): boolean {
  const [section, , block = '', ...names] = path;
  const place = `${section}.${block}`;
  if (SECRETS.includes(path.join('.')) || isWithin(path, COLLECTOR_HEADERS)) return true;
  if (place === 'upstreams.proxy') return names[0] === 'password';
  if (place === 'upstreams.credential') {
    return ['secret', 'password'].includes(names.at(-1) ?? '') || (names[0] === 'format' && !OPEN_FORMAT.test(value));
  }
  if (!FREE.includes(place)) return false;
  // A body has names within names.
  return names.some((name) => SECRET_NAME.test(name)) || WITH_SCHEME.test(value) || keysIn(value).length > 0;
}

function isWithin(path: Path, block: Path): boolean {
  return block.every((name, index) => path[index] === name);
}

function isMixed(word: string): boolean {
  return /\d/.test(word) && /[a-z]/i.test(word);
}
