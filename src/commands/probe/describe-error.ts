import type { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import { type Exchanges, restOf } from './exchanges.ts';
import type { Masks } from './masks.ts';
import type { ProbeError } from './report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';

/** Statuses by which a platform says that it does not accept who asks. */
const REFUSED = [401, 403];
const MAX_SAID = 300;

/** Why a read failed, and what the platform itself said about it. */
export async function describeError(
  error: GatewayError,
  { last }: Exchanges,
  { safe, credentialHeaders }: Masks,
): Promise<ProbeError> {
  const told = { code: error.code, reason: safe(error.reason ?? error.detail, MAX_SAID) };
  if (last === undefined) return told;
  const said = safeBody(last.page === undefined ? await restOf(last) : textUnlessJson(last.page), safe);
  return {
    ...told,
    ...(said !== '' && { said }),
    ...tellingHeaders(last.headers, safe),
    ...(REFUSED.includes(last.status) && { credentialHeaders: credentialHeaders(last.request) }),
  };
}

/** Of a page that is JSON, its first item tells more. */
function textUnlessJson(page: Buffer): string {
  const text = page.toString('utf8');
  try {
    JSON.parse(text);
    return '';
  } catch {
    return text;
  }
}

/** The beginning of what came in place of a page. Of JSON, its texts are shown, and not how they were written. */
function safeBody(body: string, safe: SafeText): string {
  try {
    return safe(JSON.stringify(safeJson(JSON.parse(body), safe)), MAX_SAID);
  } catch {
    return safe(body, MAX_SAID).trim();
  }
}

const TELLING = ['location', 'www-authenticate', 'retry-after'];

function tellingHeaders(headers: ReplyHeaders, safe: SafeText): Pick<ProbeError, 'headers'> {
  const told = TELLING.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, [value].flat().join(', ')] as const];
  });
  return told.length === 0 ? {} : { headers: safeTexts(Object.fromEntries(told), safe) };
}
