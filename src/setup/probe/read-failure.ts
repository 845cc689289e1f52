import type { Config } from '../../core/config/schema/settings.ts';
import type { ErrorCode } from '../../core/kernel/error-table.ts';
import type { GatewayError } from '../../core/kernel/errors.ts';
import { keysOf, valueAt } from './list-parts.ts';
import type { ReadFailure } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';
import { restOf, type SingleRead } from './single-read.ts';

const MAX_BODY = 300;
/** Of Portico's own reasons, which name figures and keys at their end. */
const MAX_REASON = 1000;
const SHOWN_HEADERS = ['location', 'www-authenticate', 'retry-after', 'allow'];

/** Describes why a read failed, but for {@link ReadFailure.check}. `isPageShown`: the body of a page is left out. */
export async function describeFailure(
  error: GatewayError,
  { answered }: SingleRead,
  safe: SafeText,
  isPageShown: boolean,
): Promise<Omit<ReadFailure, 'check'>> {
  const reason = { code: error.code, reason: safe(error.reason, MAX_REASON) };
  const last = answered.at(-1);
  if (last === undefined) return reason;
  const body = last.page?.toString('utf8') ?? (await restOf(last));
  const said = isPageShown && last.page !== undefined ? '' : safeBody(body, safe);
  const headers = SHOWN_HEADERS.flatMap((name) => {
    const value = last.headers[name];
    return value === undefined ? [] : [[name, [value].flat().join(', ')] as const];
  });
  return {
    ...reason,
    ...(said !== '' && { said }),
    ...(headers.length > 0 && { headers: safeTexts(Object.fromEntries(headers), safe) }),
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

/** `^` is the upstream, `*` the list. */
export const ERROR_KEYS: Readonly<Partial<Record<ErrorCode, string>>> = {
  credential_rejected: '^.credential',
  upstream_credential_rejected: '^.credential',
  access_denied: '^.credential *.path',
  upstream_refused: '^.baseUrl *.path *.query',
  upstream_rate_limited: '*.pagination.concurrency',
  upstream_timeout: '^.timeoutMs',
  upstream_failed: '^.baseUrl *.path',
  upstream_invalid: '*.items *.fields *.pagination',
};

/** Returns the settings that can have caused a failed read, the likeliest first. */
export function errorKeys(error: GatewayError, resource: string, upstream: string, config: Config): readonly string[] {
  const { code, bound, dependencyFailed, list } = error;
  const ofList = keysOf(config, resource, list);
  const ofUpstream = (key: string) => `upstreams.${upstream}.${key}`;
  if (dependencyFailed) return [ofUpstream('credential')];
  if (bound !== undefined) {
    return [ofList(bound), ofUpstream(bound), bound].filter((key) => valueAt(config, key) !== undefined).slice(0, 1);
  }
  const keys = ERROR_KEYS[code]?.split(' ') ?? [];
  return keys.map((key) => (key.startsWith('^') ? ofUpstream : ofList)(key.slice(2)));
}
