import { listsIn } from './empty-reply.ts';
import { pathPrefix } from './expressions/expression.ts';
import { childrenOf } from './expressions/expression-issue.ts';
import { compileInterpreted, type ExpressionNode, parse } from './expressions/jmespath.ts';
import type { Mapped } from './mapper.ts';
import type { Page } from './page.ts';

interface OverlookedOptions {
  readonly items: string;
  readonly resource: string;
  readonly map: (page: Page, from?: number, to?: number) => Mapped;
}

/** Usual names of lists, and of objects around them. */
const GENERIC = ['content', 'data', 'entries', 'items', 'list', 'records', 'response', 'result', 'results', 'rows'];

/**
 * Returns a check of pages without items: what the items expression missed, in figures. Either a list whose entries it filtered
 * away, or another list under a generic name or the resource's whose first item maps. Lists under other names (`included`,
 * `facets`) usually hold something else.
 */
export function createOverlooked({ items, resource, map }: OverlookedOptions): (page: Page) => string | undefined {
  const root = parse(items);
  const { fields } = pathPrefix(root);
  const names = [...GENERIC, resource];

  function fits(page: Page, list: readonly unknown[]): boolean {
    try {
      // Numbers as parsed: nothing of this is served.
      const mapped = map({ ...page, items: list, exactItems: () => undefined }, 0, 1);
      return mapped.items.length === 1 && ['id', 'name'].every((name) => !mapped.fields.get(name)?.defaulted);
    } catch {
      return false;
    }
  }

  /** 0 for an expression whose part cannot be evaluated alone. */
  function entriesBefore(body: unknown): number {
    try {
      return droppedBy(root, body);
    } catch {
      return 0;
    }
  }

  return (page) => {
    const entries = entriesBefore(page.body);
    if (entries > 0) return `items selects none of the ${entries} entries before it`;
    if (fields.at(-1) === resource) return undefined;
    const found = listsIn(page.body).find(({ path, list }) => {
      return path.length > 0 && path.every((name) => names.includes(name)) && list.length > 0 && fits(page, list);
    });
    return found && `items selects an empty list, and ${found.path.join('.')} has ${found.list.length} items that fit`;
  };
}

/** Entries that an expression with an empty result drops. */
function droppedBy(node: ExpressionNode, value: unknown): number {
  switch (node.type) {
    case 'Pipe':
    case 'Subexpression':
    case 'IndexExpression': {
      const left = compileInterpreted(node.left)(value);
      return entriesOf(left) > 0 ? droppedBy(node.right, left) : droppedBy(node.left, value);
    }
    case 'FilterProjection':
    case 'Projection':
    case 'ValueProjection':
      if (entriesOf(compileInterpreted(node)(value)) > 0) return 0;
      return entriesOf(compileInterpreted(node.left)(value)) || droppedBy(node.left, value);
    default:
      return childrenOf(node).reduce((sum, child) => sum || droppedBy(child, value), 0);
  }
}

/** Elements of a list, or members of an object that are objects. */
function entriesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.length;
  return Object.values(value).filter((each) => typeof each === 'object' && each !== null).length;
}
