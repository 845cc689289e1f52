import { stringify } from 'yaml';
import type { Settings } from '../core/config/schema/settings.ts';

/** Whether the environment supplied the setting at a path. */
type IsFromEnvironment = (path: readonly string[]) => boolean;

/** A name that speaks of a secret: `X-Api-Key`, `access_token`, `Cookie`. */
export const SECRET_NAME = /auth|cookie|credential|key|pass|pwd|secret|session|signature|token/i;
/** A value with a scheme of RFC 9110, section 11, ahead of it. */
const WITH_SCHEME = /^(?:apikey|basic|bearer|digest|token) +\S/i;
/** A possible key, if it holds letters and digits. Some keys have `/`, `.` or `:` between their parts. */
const LONG_WORDS = /[\w+=~./:-]{20,}/g;
const LONG_SEGMENT = /[\w+=~.:-]{16,}/g;
const ORIGIN = /^https?:\/\/[^/]*/i;
/** Headers whose values print. The value of any other header may be a key. */
const OPEN_HEADER = /^(?:accept|accept-language|content-type|prefer|user-agent|x-requested-with|.*-version)$/i;
const OPEN_FORMAT = /^(?:(?:apikey|basic|bearer|token) +)?\{token\}$/i;
const MASK = '[masked]';
/** Keys of Portico's own secrets. */
export const SECRETS: readonly string[] = ['password', 'secret'];
/** What a login puts in place of a part of its body. */
const FILLED_IN = /^\{\w+\}$/;

type Path = readonly string[];

/** Settings as YAML that reads back as the same settings, with what may be secret masked (docs/configuration.md). */
export function effectiveSettings(settings: Settings, isFromEnvironment: IsFromEnvironment): string {
  const print = (value: unknown, path: Path): unknown => {
    if (isMasked(value, path, isFromEnvironment)) return MASK;
    if (Array.isArray(value)) return value.map((element, index) => print(element, [...path, `${index}`]));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, print(child, [...path, key])]));
    }
    return typeof value === 'string' ? value.replaceAll('${', () => '$${') : value;
  };
  return stringify(print(settings, []), { lineWidth: 0 });
}

/** Returns whether the value at `path` may be secret. A block may have been written as one scalar. */
export function isMasked(value: unknown, path: Path, isFromEnvironment: IsFromEnvironment): boolean {
  if (value === '') return false;
  return isFromEnvironment(path) || (typeof value === 'string' && isSecret(value, path));
}

/** The segments of an address or a path that may be keys: long, of letters and digits. The host of an address is none. */
export function keysIn(text: string): string[] {
  return (text.replace(ORIGIN, '').match(LONG_SEGMENT) ?? []).filter(isMixed);
}

function isSecret(value: string, path: Path): boolean {
  const [, , ...keys] = path;
  const [block] = keys;
  const name = path.at(-1) ?? '';
  if (block === 'headers') return !OPEN_HEADER.test(name);
  // Names and values of these are a platform's own words. A body has names within names.
  const free = keys.findIndex((key) => key === 'query' || key === 'body');
  if (free !== -1) {
    if (FILLED_IN.test(value)) return false;
    return keys.slice(free + 1).some((key) => SECRET_NAME.test(key)) || WITH_SCHEME.test(value) || hasKey(value);
  }
  if (name === 'baseUrl' || name === 'path') return keysIn(value).length > 0;
  return SECRETS.includes(name) || (block === 'credential' && name === 'format' && !OPEN_FORMAT.test(value));
}

function hasKey(value: string): boolean {
  return (value.match(LONG_WORDS) ?? []).some(isMixed);
}

function isMixed(word: string): boolean {
  return /\d/.test(word) && /[a-z]/i.test(word);
}
