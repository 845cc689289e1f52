import { stringify } from 'yaml';
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
const TOKEN = 'mcp.stdio.token';

/** Blocks whose keys and values are a platform's own words. */
const FREE = ['upstreams.headers', 'resources.headers', 'resources.pathParams', 'resources.query'];

type Path = readonly string[];
type IsFromEnvironment = (path: Path) => boolean;

/**
 * Settings as YAML that reads back as the same settings, but for what may be secret: all that the environment put in;
 * headers and query parameters whose name or value speaks of a secret; what a `credential.format` adds to the token; and
 * the token of `portico stdio`.
 */
export function effectiveSettings(config: Config, isFromEnvironment: IsFromEnvironment): string {
  const print = (value: unknown, path: Path): unknown => {
    // A block may have been written as one scalar.
    if (value !== '' && isFromEnvironment(path)) return MASK;
    if (Array.isArray(value)) return value.map((element, index) => print(element, [...path, `${index}`]));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, print(child, [...path, key])]));
    }
    if (typeof value !== 'string' || value === '') return value;
    return isSecret(value, path) ? MASK : value.replaceAll('${', () => '$${');
  };
  return stringify(print(config, []), { lineWidth: 0 });
}

function isSecret(value: string, path: Path): boolean {
  const [section, , block = '', name = ''] = path;
  const place = `${section}.${block}`;
  if (path.join('.') === TOKEN) return true;
  if (place === 'upstreams.credential') return name === 'format' && !OPEN_FORMAT.test(value);
  if (!FREE.includes(place)) return false;
  return SECRET_NAME.test(name) || WITH_SCHEME.test(value) || (value.match(LONG_WORDS) ?? []).some(isMixed);
}

function isMixed(word: string): boolean {
  return /\d/.test(word) && /[a-z]/i.test(word);
}
