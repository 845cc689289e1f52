import type { Config } from '../../core/config/schema/settings.ts';
import type { ErrorCode } from '../../core/kernel/error-table.ts';
import type { GatewayError } from '../../core/kernel/errors.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import type { Masks } from './masks.ts';
import type { ErrorKey, ReadFailure } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';
import { restOf, type SingleRead } from './single-read.ts';

/** Statuses with which a platform refuses a credential. */
const REFUSED = [401, 403];
const MAX_BODY = 300;
/** Of Portico's own reasons, which name figures and keys at their end. */
const MAX_REASON = 1000;

/**
 * Describes why a read failed, with the body of the last response. The body of a page is left out if the report shows an item of it
 * (`isPageShown`).
 */
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
  return {
    ...reason,
    ...(said !== '' && { said }),
    ...shownHeaders(last.headers, safe),
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

const SHOWN = ['location', 'www-authenticate', 'retry-after', 'allow'];

function shownHeaders(headers: ReplyHeaders, safe: SafeText): Pick<ReadFailure, 'headers'> {
  const shown = SHOWN.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, [value].flat().join(', ')] as const];
  });
  return shown.length === 0 ? {} : { headers: safeTexts(Object.fromEntries(shown), safe) };
}

const UPSTREAM = 'upstreams.*';
const LIST = 'resources.*';
const PLACE = [`${UPSTREAM}.baseUrl`, `${LIST}.path`];
const CREDENTIAL = `${UPSTREAM}.credential`;

/** By code and reason. The first row that fits is used. `*` is the name of the upstream or resource, `$1` is from the reason. */
const ROWS: readonly (readonly [ErrorCode, RegExp, readonly string[]])[] = [
  ['credential_rejected', /^/, [CREDENTIAL]],
  ['upstream_credential_rejected', /^/, [CREDENTIAL]],
  ['access_denied', /scope/, [`${LIST}.requiredScopes`]],
  ['access_denied', /^/, [CREDENTIAL, `${LIST}.path`]],
  ['upstream_refused', /status 4(?:04|10)/, [...PLACE, `${LIST}.pathParams`]],
  ['upstream_refused', /status 405/, [`${LIST}.method`, `${LIST}.path`]],
  ['upstream_refused', /status 4(?:06|15)/, [`${UPSTREAM}.headers`]],
  ['upstream_refused', /^/, [`${LIST}.query`, `${LIST}.pagination`, `${LIST}.body`]],
  ['upstream_rate_limited', /^/, [`${LIST}.pagination.concurrency`, `${UPSTREAM}.connections`]],
  ['upstream_timeout', /proxy/, [`${UPSTREAM}.proxy`, `${UPSTREAM}.connectTimeoutMs`]],
  ['upstream_timeout', /connection/, [`${UPSTREAM}.baseUrl`, `${UPSTREAM}.connectTimeoutMs`]],
  ['upstream_timeout', /^/, [`${UPSTREAM}.timeoutMs`]],
  ['upstream_failed', /proxy/, [`${UPSTREAM}.proxy`]],
  ['upstream_failed', /certificate|TLS/, [`${UPSTREAM}.baseUrl`, `${UPSTREAM}.tls`]],
  ['upstream_failed', /page holds errors/, [`${LIST}.errors`, `${LIST}.query`, `${LIST}.body`]],
  ['upstream_failed', /status/, PLACE],
  ['upstream_failed', /^/, [`${UPSTREAM}.baseUrl`]],
  ['upstream_invalid', /^field (\w+) /, [`${LIST}.fields.$1`]],
  ['upstream_invalid', /^the field (\w+) .*strictMapping/, [`${LIST}.fields.$1`, `${LIST}.strictMapping`]],
  ['upstream_invalid', /^where/, [`${LIST}.where`]],
  ['upstream_invalid', /list of items/, [`${LIST}.items`]],
  ['upstream_invalid', /expression|does not take/, [`${LIST}.items`, `${LIST}.fields`]],
  ['upstream_invalid', /not JSON|UTF-8|Content-Encoding|content coding|status|levels/, PLACE],
  ['upstream_invalid', /^/, [`${LIST}.pagination`]],
  ['breaker_open', /^/, [`${UPSTREAM}.breaker`]],
  ['overloaded', /^/, [`${UPSTREAM}.maxQueue`]],
];

/** Returns the settings that can have caused a failed read. Empty for errors that no setting causes. */
export function errorKeys(error: GatewayError, resource: string, upstream: string, config: Config): ErrorKey[] {
  return keysOf(error, resource, upstream, config).map((setting) => {
    const value = at(config, setting);
    return typeof value === 'number' ? { setting, value } : { setting };
  });
}

function keysOf(
  { code, reason = '', bound, elsewhere }: GatewayError,
  resource: string,
  upstream: string,
  config: Config,
): readonly string[] {
  const named = (key: string) =>
    key.replace(/^upstreams\.\*/, `upstreams.${upstream}`).replace(/^resources\.\*/, `resources.${resource}`);
  if (elsewhere) return [named(CREDENTIAL)];
  if (bound !== undefined) {
    const places = [`${LIST}.${bound}`, `${UPSTREAM}.${bound}`, bound].map(named);
    return places.filter((place) => at(config, place) !== undefined).slice(0, 1);
  }
  const [, pattern, keys = []] = ROWS.find(([of, fits]) => of === code && fits.test(reason)) ?? [];
  const [, what = ''] = pattern?.exec(reason) ?? [];
  return keys.map((key) => named(key).replace('$1', what));
}

function at(config: Config, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((block, name) => (block as Record<string, unknown> | undefined)?.[name], config);
}
