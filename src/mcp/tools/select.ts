import type { Item } from '../../resources/resource.ts';

/** What narrows a list. */
export interface Filter {
  /** Text that the name or the description has, in any case. */
  readonly query?: string | undefined;
  /** Fields with the very text that they must have. */
  readonly exact: Readonly<Record<string, string>>;
}

/** The items that a filter leaves, in their order. */
export function select(items: readonly Item[], { query, exact }: Filter): readonly Item[] {
  const wanted = Object.entries(exact);
  const needle = query?.toLowerCase() ?? '';
  if (wanted.length === 0 && needle === '') return items;
  const has = (text = '') => text.toLowerCase().includes(needle);
  return items.filter(
    (item) => wanted.every(([field, text]) => item[field] === text) && (has(item['name']) || has(item['description'])),
  );
}
