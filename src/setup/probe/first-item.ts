import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import type { Page } from '../../core/mapping/page.ts';
import { PROBE } from '../input-bounds.ts';
import type { FirstItem } from './probe-report.ts';
import { type SafeText, safeJson, safeTexts } from './safe-text.ts';

/** Returns the first item of a page that is served, or else the first that cannot be mapped, with the reason. */
export function firstItemOf(
  page: Page,
  settings: ResourceConfig,
  required: readonly string[],
  safe: SafeText,
): FirstItem | undefined {
  const map = createMapper({ ...settings, required, invalidItems: 'fail' });
  const rawAt = (index: number) => safeJson(page.exactItems()?.[index] ?? page.items[index], safe);
  let invalid: FirstItem | undefined;
  for (let index = 0; index < Math.min(page.items.length, PROBE.items); index += 1) {
    try {
      const [mapped] = map(page, index, index + 1).items;
      if (mapped !== undefined) return { raw: rawAt(index), mapped: safeTexts(mapped, safe) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      invalid ??= { raw: rawAt(index), notServed: safe(error.reason, 300) };
      if (settings.invalidItems === 'fail') return invalid;
    }
  }
  if (invalid !== undefined || page.items.length === 0) return invalid;
  return { raw: rawAt(0), notServed: 'where excludes it' };
}
