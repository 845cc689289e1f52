import { stringify } from 'yaml';
import type { Config } from './schema/settings.ts';

/** A name that speaks of a secret, in any case and with any separators: `X-Api-Key`, `access_token`, `Cookie`. */
const SECRET = /auth|cookie|credential|key|pass|pwd|secret|session|signature|token/i;
const MASK = '[masked]';
const TOKEN = 'mcp.stdio.token';

type Path = readonly string[];
type IsFromEnvironment = (path: Path) => boolean;

/**
 * Settings as YAML that reads back as the same settings, but for what may be secret: headers and query parameters that
 * are named like a secret, the token of `portico stdio`, and all text for upstreams that the environment put in,
 * `baseUrl` excepted.
 */
export function effectiveSettings(config: Config, isFromEnvironment: IsFromEnvironment): string {
  const print = (value: unknown, path: Path): unknown => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, print(child, [...path, key])]));
    }
    if (value !== '' && isSecret(path, isFromEnvironment)) return MASK;
    return typeof value === 'string' ? value.replaceAll('${', () => '$${') : value;
  };
  return stringify(print(config, []), { lineWidth: 0 });
}

function isSecret(path: Path, isFromEnvironment: IsFromEnvironment): boolean {
  const [section, , block = '', name = ''] = path;
  const place = `${section}.${block}`;
  if (path.join('.') === TOKEN) return true;
  if (place === 'upstreams.headers' || place === 'resources.query') return SECRET.test(name) || isFromEnvironment(path);
  return (place === 'upstreams.credential' || place === 'resources.path') && isFromEnvironment(path);
}
