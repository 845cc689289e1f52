import { compileExpression } from '../../mapping/expressions/expression.ts';
import { createMapper, type MapperOptions } from '../../mapping/mapper.ts';
import { createOverlooked } from '../../mapping/overlooked.ts';
import { createPageParser, type PageExpressions } from '../../mapping/page.ts';
import type { ListRequest } from '../../upstream/pagination/list-read.ts';
import type { Pagination } from '../../upstream/pagination/page-address.ts';
import type { PageReaderOptions } from './page-reader.ts';

type Expressions<P> = {
  readonly [Key in keyof P]: Key extends 'next' | 'total' ? Extract<P[Key], undefined> | string : P[Key];
};
type PaginationSettings<P = Pagination> = P extends Pagination ? Expressions<P> : never;

/** Settings of one resource's list and items. Plain data, so that it can be sent to a thread. */
export interface ListSettings extends Omit<ListRequest, 'pagination' | 'post'>, MapperOptions, PageExpressions {
  /** Name of the resource. */
  readonly resource: string;
  readonly pagination: PaginationSettings;
  readonly maxPageValues: number;
  /** @default 'fail' */
  readonly duplicateIds?: 'fail' | 'allow';
}

/** Compiles the expressions of a list's settings. */
export function compileList(settings: ListSettings): PageReaderOptions {
  const map = createMapper(settings);
  return {
    list: { ...settings, pagination: compilePagination(settings.pagination) },
    maxPageValues: settings.maxPageValues,
    parse: createPageParser(settings),
    map,
    idsAreUnique: settings.duplicateIds !== 'allow',
    overlooked: createOverlooked({ ...settings, map }),
  };
}

function compilePagination(settings: PaginationSettings): Pagination {
  const compile = (expression: string | undefined) =>
    expression === undefined ? undefined : compileExpression(expression).evaluate;
  const total = compile(settings.total);
  switch (settings.kind) {
    case 'token':
      return { ...settings, total, next: compileExpression(settings.next).evaluate };
    case 'link':
      return { ...settings, total, next: compile(settings.next) };
    case 'none':
    case 'offset':
    case 'page':
      return { ...settings, total };
  }
}
