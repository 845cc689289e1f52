import { fillPath, fillText, namesIn } from '../../config/schema/resource/templates.ts';
import { isObject } from '../../kernel/json-shape.ts';
import { type Parent, textOfParent } from './joined-lists.ts';
import type { PageReaderOptions } from './page-reader.ts';

/** The list below a parent: its path names the parent, and expressions over an item may use `parent`. */
export function belowParent(compiled: PageReaderOptions, path: string, parent: Parent): PageReaderOptions {
  const { query } = compiled.list;
  const names = namesIn(`${path} ${JSON.stringify(query)}`).filter((name) => name.startsWith('parent.'));
  const texts = names.map((name) => [name, textOfParent(parent, name.slice('parent.'.length))]);
  const values = Object.fromEntries(texts);
  const filled = Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' ? fillText(value, values) : value.map((each) => fillText(each, values)),
    ]),
  );
  return {
    ...compiled,
    list: { ...compiled.list, path: fillPath(path, values), query: filled },
    parse(text) {
      const page = compiled.parse(text);
      let exact: readonly unknown[] | undefined;
      return {
        ...page,
        items: withParent(page.items, parent),
        exactItems() {
          exact ??= withParent(page.exactItems(), parent);
          return exact;
        },
      };
    },
  };
}

/** Expressions find the parent in each item; it is no part of the item where that is written or compared. */
function withParent<Items extends readonly unknown[] | undefined>(items: Items, parent: Parent): Items {
  for (const item of items ?? []) {
    if (isObject(item)) Object.defineProperty(item, 'parent', { value: parent, enumerable: false, configurable: true });
  }
  return items;
}
