import type { GatewayError } from '../../core/kernel/errors.ts';
import type { ReadFailure } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';
import { restOf, type SingleRead } from './single-read.ts';

const MAX_BODY = 300;
/** Of Portico's own reasons, which name figures and keys at their end. */
const MAX_REASON = 1000;
const SHOWN_HEADERS = ['location', 'www-authenticate', 'retry-after', 'allow'];

/** Describes why a read failed. `isPageShown`: the body of a page is left out. */
export async function describeFailure(
  error: GatewayError,
  { answered }: SingleRead,
  safe: SafeText,
  isPageShown: boolean,
): Promise<ReadFailure> {
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
