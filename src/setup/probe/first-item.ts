import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import type { Page } from '../../core/mapping/page.ts';
import { PROBE } from '../input-bounds.ts';
import type { FirstItem } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';

/** Returns the first item of a page that can be served, or else the first as it was received. */
export function firstItemOf(
  page: Page,
  settings: ResourceConfig,
  required: readonly string[],
  safe: SafeText,
): FirstItem | undefined {
  const map = createMapper({ ...settings, required, invalidItems: 'drop' });
  const rawAt = (index: number) => safeJson(page.exactItems()?.[index] ?? page.items[index], safe);
  for (let index = 0; index < Math.min(page.items.length, PROBE.items); index += 1) {
    const [mapped] = map(page, index, index + 1).items;
    if (mapped !== undefined) return { raw: rawAt(index), mapped: safeTexts(mapped, safe) };
  }
  return page.items.length === 0 ? undefined : { raw: rawAt(0) };
}
