import type { Config } from '../../core/config/schema/settings.ts';
import type { ErrorCode } from '../../core/kernel/error-table.ts';
import type { GatewayError } from '../../core/kernel/errors.ts';
import { keysOf, valueAt } from './list-parts.ts';
import type { Masks } from './masks.ts';
import type { ErrorKey, ReadFailure } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';
import { restOf, type SingleRead } from './single-read.ts';

const REFUSED = [401, 403];
const MAX_BODY = 300;
/** Of Portico's own reasons, which name figures and keys at their end. */
const MAX_REASON = 1000;
const SHOWN_HEADERS = ['location', 'www-authenticate', 'retry-after', 'allow'];

/** Describes why a read failed. `isPageShown`: the body of a page is left out. */
export async function describeFailure(
  error: GatewayError,
  { answered }: SingleRead,
  { safe, credentialHeaders }: Masks,
  isPageShown: boolean,
): Promise<ReadFailure> {
  const reason = { code: error.code, reason: safe(error.reason ?? error.detail, MAX_REASON) };
  const last = answered.at(-1);
  if (last === undefined) return reason;
  const body = last.page?.toString('utf8') ?? (await restOf(last));
  const said = isPageShown && last.page !== undefined ? '' : safeBody(body, safe);
  const headers = SHOWN_HEADERS.filter((name) => last.headers[name] !== undefined);
  const texts = Object.fromEntries(headers.map((name) => [name, [last.headers[name]].flat().join(', ')]));
  return {
    ...reason,
    ...(said !== '' && { said }),
    ...(headers.length > 0 && { headers: safeTexts(texts, safe) }),
    ...(REFUSED.includes(last.status) && { credentialHeaders: credentialHeaders(last.request) }),
  };
}

/** Returns the beginning of a body. JSON is parsed first, so that escapes hide nothing. */
function safeBody(body: string, safe: SafeText): string {
  try {
    return safe(JSON.stringify(safeJson(JSON.parse(body), safe)), MAX_BODY);
  } catch {
    return safe(body, MAX_BODY).trim();
  }
}

/** By code and reason; the first row that fits is used. `^` is the upstream, `*` the resource, `$1` from the reason. */
export const ERROR_KEYS: readonly (readonly [ErrorCode, RegExp, keys: string])[] = [
  ['credential_rejected', /^/, '^.credential'],
  ['upstream_credential_rejected', /^/, '^.credential'],
  ['access_denied', /scope/, '*.requiredScopes'],
  ['access_denied', /^/, '^.credential *.path'],
  ['upstream_refused', /status 4(?:04|10)/, '^.baseUrl *.path'],
  ['upstream_refused', /status 405/, '*.method *.path'],
  ['upstream_refused', /status 4(?:06|15)/, '^.headers'],
  ['upstream_refused', /^/, '*.query *.pagination *.body'],
  ['upstream_rate_limited', /^/, '*.pagination.concurrency ^.connections'],
  ['upstream_timeout', /proxy/, '^.proxy'],
  ['upstream_timeout', /connection/, '^.baseUrl'],
  ['upstream_timeout', /^/, '^.timeoutMs'],
  ['upstream_failed', /proxy/, '^.proxy'],
  ['upstream_failed', /certificate|TLS/, '^.baseUrl ^.tls'],
  ['upstream_failed', /page contains errors/, '*.errors *.query *.body'],
  ['upstream_failed', /status/, '^.baseUrl *.path'],
  ['upstream_failed', /^/, '^.baseUrl'],
  ['upstream_invalid', /^field (\w+) /, '*.fields.$1'],
  ['upstream_invalid', /^every parent/, '*.path *.query'],
  ['upstream_invalid', /^where/, '*.where'],
  ['upstream_invalid', /reports a fault/, '*.ignoreErrors *.query *.body'],
  ['upstream_invalid', /list of items/, '*.items'],
  ['upstream_invalid', /expression|does not take/, '*.items *.fields'],
  ['upstream_invalid', /not JSON|UTF-8|Content-Encoding|content coding|status|levels/, '^.baseUrl *.path'],
  ['upstream_invalid', /^/, '*.pagination'],
  ['breaker_open', /^/, '^.baseUrl'],
  ['overloaded', /^/, '^.connections'],
];

/** Returns the settings that can have caused a failed read. Empty for errors that no setting causes. */
export function errorKeys(error: GatewayError, resource: string, upstream: string, config: Config): ErrorKey[] {
  const { code, reason, bound, dependencyFailed, list } = error;
  const ofList = keysOf(config, resource, list);
  const ofUpstream = (key: string) => `upstreams.${upstream}.${key}`;
  const find = (): string[] => {
    if (dependencyFailed) return [ofUpstream('credential')];
    if (bound !== undefined) {
      return [ofList(bound), ofUpstream(bound), bound].filter((key) => valueAt(config, key) !== undefined).slice(0, 1);
    }
    const [, pattern, keys] = ERROR_KEYS.find(([of, fits]) => of === code && fits.test(reason)) ?? [];
    const [, what = ''] = pattern?.exec(reason) ?? [];
    return (keys?.split(' ') ?? []).map((named) => {
      const key = named.slice(2).replace('$1', what);
      return named.startsWith('^') ? ofUpstream(key) : ofList(key);
    });
  };
  return find().map((setting) => {
    const value = valueAt(config, setting);
    return typeof value === 'number' ? { setting, value } : { setting };
  });
}
