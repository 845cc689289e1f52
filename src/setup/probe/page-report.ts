import { requiredFields } from '../../core/resources/resource.ts';
import { type Statement, statementsOf } from '../../core/upstream/signs/statements.ts';
import type { Exchange } from './exchanges.ts';
import type { Masks } from './masks.ts';
import { firstItemOf, parsePage } from './page-look.ts';
import type { FirstItem, ResourceReport } from './probe-report.ts';
import { safeJson, safeTexts } from './safe-text.ts';
import { type HintContext, hintsFor } from './setting-hints.ts';

/** An exchange whose page was kept. */
export type PageExchange = Exchange & { readonly page: Buffer };

/** Describes the first page: its first item, what it says about further pages, and hints for settings that fit it better. */
export async function describePage(
  exchange: PageExchange | undefined,
  { masks, ...context }: HintContext & { readonly masks: Masks },
): Promise<Pick<ResourceReport, 'first' | 'signs' | 'suggestions'>> {
  const { settings, resource } = context;
  const parsed = exchange && parsePage(exchange.page, settings);
  if (exchange === undefined || parsed === undefined) return { signs: [], suggestions: [] };
  const { body, page } = parsed;
  const { headers } = exchange;
  const { safe } = masks;
  const first = page && firstItemOf(page, settings, requiredFields(resource));
  const hints = await hintsFor({ body, headers, count: page?.items.length }, context);
  return {
    signs: statementsOf(page?.enclosing ?? [], headers).map((statement) => describeSign(statement, masks)),
    ...(first !== undefined && { first: safeItem(first, masks) }),
    suggestions: hints.map(({ setting, value, why }) => ({ setting, value: safe(value, 500), why: safe(why, 500) })),
  };
}

function describeSign({ sign, name, path, says }: Statement, { safe }: Masks): string {
  const where = safe(path ?? `the header ${name}`, 100);
  if (typeof says === 'number') return `${where} is ${says}`;
  const what = sign === 'previous' ? 'a page before this one' : 'more';
  return `${where} says that there is ${says ? what : `no ${what.replace(/^a /, '')}`}`;
}

function safeItem({ raw, mapped, from, why }: FirstItem, { safe }: Masks): FirstItem {
  return {
    raw: safeJson(raw, safe),
    ...(mapped && { mapped: safeTexts(mapped, safe) }),
    from: safeTexts(from, safe),
    ...(why !== undefined && { why: safe(why, 300) }),
  };
}
