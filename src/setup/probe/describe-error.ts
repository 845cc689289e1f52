import type { GatewayError } from '../../core/kernel/errors.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import { type Exchanges, restOf } from './exchanges.ts';
import type { Masks } from './masks.ts';
import type { ProbeError } from './report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';

/** Statuses by which a platform says that it does not accept who asks. */
const REFUSED = [401, 403];
const MAX_SAID = 300;
/** Of our own words, which name figures and keys last. */
const MAX_REASON = 1000;

/**
 * Why a read failed, and what the platform itself said about it. Of a page that is JSON, its first item, or a list that it holds
 * elsewhere, tells more: where the report has one of them, `isPageTold`.
 */
export async function describeError(
  error: GatewayError,
  { last }: Exchanges,
  { safe, credentialHeaders }: Masks,
  isPageTold: boolean,
): Promise<ProbeError> {
  const told = { code: error.code, reason: safe(error.reason ?? error.detail, MAX_REASON) };
  if (last === undefined) return told;
  const body = last.page?.toString('utf8') ?? (await restOf(last));
  const said = isPageTold && last.page !== undefined ? '' : safeBody(body, safe);
  return {
    ...told,
    ...(said !== '' && { said }),
    ...tellingHeaders(last.headers, safe),
    ...(REFUSED.includes(last.status) && { credentialHeaders: credentialHeaders(last.request) }),
  };
}

/** The beginning of what came in place of a page. Of JSON, its texts are shown, and not how they were written. */
function safeBody(body: string, safe: SafeText): string {
  try {
    return safe(JSON.stringify(safeJson(JSON.parse(body), safe)), MAX_SAID);
  } catch {
    return safe(body, MAX_SAID).trim();
  }
}

const TELLING = ['location', 'www-authenticate', 'retry-after', 'allow'];

function tellingHeaders(headers: ReplyHeaders, safe: SafeText): Pick<ProbeError, 'headers'> {
  const told = TELLING.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, [value].flat().join(', ')] as const];
  });
  return told.length === 0 ? {} : { headers: safeTexts(Object.fromEntries(told), safe) };
}
