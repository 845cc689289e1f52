import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import type { Page } from '../../core/mapping/page.ts';
import type { FirstItem } from './report.ts';

/** Of a page, no more items are tried one by one. */
const TRIED = 1000;

/**
 * The first item of a page that is an item of the answer, beside what it was; where there is none, the first one that cannot be
 * mapped, and why. By the mapper of the read, one item after the other. `undefined` for an empty page.
 */
export function firstItemOf(page: Page, settings: ResourceConfig, required: readonly string[]): FirstItem | undefined {
  const map = createMapper({ ...settings, required, invalidItems: 'fail' });
  const from = Object.fromEntries(Object.entries(settings.fields).map(([name, field]) => [name, field.from]));
  const rawAt = (index: number) => page.exactItems()?.[index] ?? page.items[index];
  let invalid: FirstItem | undefined;
  for (let index = 0; index < Math.min(page.items.length, TRIED); index += 1) {
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
  return { raw: rawAt(0), from, why: 'where leaves it out' };
}
