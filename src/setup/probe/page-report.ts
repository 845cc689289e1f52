import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import type { Page } from '../../core/mapping/page.ts';
import { type Resource, requiredFields } from '../../core/resources/resource.ts';
import type { Statement } from '../../core/upstream/hints/statements.ts';
import { PROBE } from '../input-bounds.ts';
import type { InspectedPage } from './inspected-page.ts';
import type { FirstItem, ResourceReport } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';

/** Describes the first page: its first item, and its signs of further pages. */
export function describePage(
  { page, statements }: InspectedPage,
  safe: SafeText,
  { settings, resource }: { readonly settings: ResourceConfig; readonly resource: Resource },
): Pick<ResourceReport, 'first' | 'signs'> {
  const first = page && firstItemOf(page, settings, requiredFields(resource));
  return {
    signs: statements.filter(({ sign }) => sign !== 'token').map((statement) => describeSign(statement, safe)),
    ...(first && { first: safeItem(first, safe) }),
  };
}

/** Returns the first item that is served, or else the first that cannot be mapped, with the reason. */
function firstItemOf(page: Page, settings: ResourceConfig, required: readonly string[]): FirstItem | undefined {
  const map = createMapper({ ...settings, required, invalidItems: 'fail' });
  const from = Object.fromEntries(Object.entries(settings.fields).map(([name, field]) => [name, field.from]));
  const rawAt = (index: number) => page.exactItems()?.[index] ?? page.items[index];
  let invalid: FirstItem | undefined;
  for (let index = 0; index < Math.min(page.items.length, PROBE.items); index += 1) {
    try {
      const [mapped] = map(page, index, index + 1).items;
      if (mapped !== undefined) return { raw: rawAt(index), mapped, from };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      invalid ??= { raw: rawAt(index), from, why: error.reason ?? error.title };
      if (settings.invalidItems === 'fail') return invalid;
    }
  }
  if (invalid !== undefined || page.items.length === 0) return invalid;
  return { raw: rawAt(0), from, why: 'where excludes it' };
}

function describeSign({ sign, name, path, stated }: Statement, safe: SafeText): string {
  const where = safe(path ?? `the header ${name}`, 100);
  if (typeof stated === 'number') return `${where} is ${stated}`;
  const [some, none] = sign === 'previous' ? ['a previous page', 'no previous page'] : ['more items', 'no more items'];
  return `${where} indicates ${stated ? some : none}`;
}

function safeItem({ raw, mapped, from, why }: FirstItem, safe: SafeText): FirstItem {
  return {
    raw: safeJson(raw, safe),
    ...(mapped && { mapped: safeTexts(mapped, safe) }),
    from: safeTexts(from, safe),
    ...(why !== undefined && { why: safe(why, 300) }),
  };
}
