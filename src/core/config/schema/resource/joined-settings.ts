import { z } from 'zod';
import type { Resource } from '../../../resources/resource.ts';
import type { CrossCheck } from '../cross-check.ts';
import { expression, selection, whole } from '../scalars.ts';
import { PaginationSettings } from './pagination-settings.ts';
import { checkParameters, defaultPath, listPath, queryParameters, type RequestSettings } from './request.ts';
import { namesIn } from './templates.ts';

/** A list of parents that is not offered itself. */
const ParentsSettings = z.strictObject({
  path: listPath.describe("Path of the parents' list below the upstream's baseUrl."),
  query: queryParameters.prefault({}).describe('Query parameters of every page request.'),
  items: selection.default('@').describe('Parents of a page (JMESPath over the body).'),
  pagination: PaginationSettings.prefault({ kind: 'token' }).describe("Pagination of the parents' list."),
  where: selection.optional().describe('Condition that keeps a parent (JMESPath over one parent).'),
  id: expression.default('id').describe('Id of a parent, which is joined with ids that several parents have.'),
});

/** Settings that can differ between the lists of one resource. */
const ListSettings = z.strictObject({
  path: listPath.describe("Path of the list below the upstream's baseUrl."),
  query: queryParameters.optional().describe('In place of the query of the resource.'),
  items: selection.optional().describe('In place of the items of the resource.'),
  pagination: PaginationSettings.optional().describe('In place of the pagination of the resource.'),
  where: selection.optional().describe('In place of the where of the resource.'),
});

/** Settings of a resource that consists of several lists. */
export const joinedShape = {
  each: z
    .union([z.string().min(1), ParentsSettings], { error: 'must be the name of a resource, or a block with path' })
    .optional()
    .describe(
      'Reads the list once for each parent: each item of another resource of the same upstream, or of a list that is not offered. path or query has {parent.NAME}, and expressions of fields and where may use parent.',
    ),
  lists: z
    .array(ListSettings)
    .min(1)
    .max(20)
    .optional()
    .describe(
      'Several lists that are joined to one, in their order. Each replaces path, query, items, pagination and where.',
    ),
  maxParents: whole(1, 10_000).default(500).describe('Parents of one read. Beyond: an error.'),
};

export type ParentsConfig = z.output<typeof ParentsSettings>;

type Joined = z.output<z.ZodObject<typeof joinedShape>> &
  Pick<RequestSettings, 'path' | 'body' | 'query' | 'pagination'>;

/**
 * Checks that a path or a query names its parent exactly where there is one, that no path is unused, and the parameters of parents
 * and lists.
 */
export function checkJoined(resource: Resource): CrossCheck<Joined> {
  return (settings, report) => {
    const { each, lists = [], path, query } = settings;
    if (typeof each === 'object') checkParameters(each, (at, message) => report(['each', ...at], message));
    for (const [index, list] of lists.entries()) {
      if (list.query === undefined && list.pagination === undefined) continue;
      const own = { query: list.query ?? query, pagination: list.pagination ?? settings.pagination };
      checkParameters({ ...settings, ...own }, (at, message) => report(['lists', index, ...at], message));
    }
    const places = lists.map((list, index) => ({
      place: ['lists', index, 'path'],
      text: { path: list.path, query: list.query ?? query },
    }));
    if (places.length === 0) places.push({ place: ['path'], text: { path, query } });
    else if (path !== defaultPath(resource)) report(['path'], 'is not read where there are lists: make it one of them');
    for (const { place, text } of places) {
      const isOfParent = namesIn(JSON.stringify(text)).some((name) => name.startsWith('parent.'));
      if (isOfParent && each === undefined) report(place, 'or query has {parent...}, and there is no each');
      if (!isOfParent && each !== undefined) report(place, 'or query must have {parent.NAME}, such as {parent.id}');
    }
  };
}
