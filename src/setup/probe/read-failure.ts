import type { GatewayError } from '../../core/kernel/errors.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import { type Exchanges, restOf } from './exchanges.ts';
import type { Masks } from './masks.ts';
import type { ReadFailure } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';

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
  { answered }: Exchanges,
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
