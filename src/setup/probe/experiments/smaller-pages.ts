import { fillBody } from '../../../core/config/schema/resource/templates.ts';
import type { ResourceConfig } from '../../../core/config/schema/settings.ts';
import type { Finding } from '../probe-report.ts';
import type { Experiment } from './experiment.ts';

type Pagination = ResourceConfig['pagination'];

/** The setting that leads to the next page, by kind. */
const NEXT = { token: 'tokenParam', offset: 'offsetParam', page: 'pageParam', link: 'next', none: '' } as const;

/**
 * Reads in pages of half the size. If the first page was the whole list, its second half has to come as a second page, so that
 * the next page and its sign are tried, too.
 */
export const smallerPages: Experiment = {
  name: 'smaller pages',
  async run({ resource, settings, first, received, attempt }) {
    const { pagination } = settings;
    const isWhole = first.count === received;
    if (pagination.kind === 'none' || first.count < 2) return [];
    const at = `resources.${resource.name}.pagination`;
    const key = NEXT[pagination.kind];
    const ignoredNext: Finding = {
      finding: 'parameter_ignored',
      setting: `${at}.${key}`,
      text: `${at}.${key}: the page after the first is the first one again (${first.count} items in all): the platform ignores the parameter`,
    };
    const sizeKey = pagination.sizeParam === null ? 'endParam' : 'sizeParam';
    const isSized =
      pagination.sizeParam !== null || (pagination.kind === 'offset' && pagination.endParam !== undefined);
    const found: Finding[] = [];
    if (isSized) {
      const size = Math.ceil(first.count / 2);
      const smaller = { pagination: { ...pagination, size } as Pagination };
      const [one, two] = await attempt({ settings: smaller, maxPages: isWhole ? 3 : 1 });
      if (one === undefined) return [];
      if (one.count < first.count) {
        if (!isWhole) return [];
        if (one.ids === two?.ids) return [ignoredNext];
        if (two !== undefined && two.count > 0) return [];
        const text = `${at}: in pages of ${size} items the list ends after ${one.count} of ${first.count} items; the total or the sign of a next page that ${at} reads is that of one page, or ${at}.${key} counts in another way`;
        return [{ finding: 'pages_incomplete', setting: at, text }];
      }
      if (one.ids === first.ids) {
        const text = `${at}.${sizeKey}: ${size} items were requested, and the same ${one.count} came: the platform ignores the parameter; name the one that it reads, or write sizeParam: null`;
        found.push({ finding: 'parameter_ignored', setting: `${at}.${sizeKey}`, text });
      }
    }
    // Without a total, the read itself has requested a page after the last.
    const hasTotal = pagination.total !== undefined || pagination.totalHeader !== undefined;
    if (!isWhole || pagination.kind !== 'offset' || !hasTotal) return found;
    const [shifted] = await attempt({ settings: withParameter(settings, pagination.offsetParam, 1) });
    return shifted?.ids === first.ids ? [...found, ignoredNext] : found;
  },
};

/** One page with a parameter in the query or, as a JSON pointer, in the body. */
function withParameter({ query, body }: ResourceConfig, name: string, value: number): Partial<ResourceConfig> {
  const pagination = { kind: 'none' } as const;
  if (body === undefined || !name.startsWith('/')) return { pagination, query: { ...query, [name]: `${value}` } };
  return { pagination, body: fillBody(body, { [name]: value }) as typeof body };
}
