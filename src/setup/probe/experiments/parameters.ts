import { fillBody } from '../../../core/config/schema/resource/templates.ts';
import type { ResourceConfig } from '../../../core/config/schema/settings.ts';
import type { Experiment, Shown, Subject } from './experiment.ts';
import type { Look, Variation } from './trial.ts';

type Pagination = ResourceConfig['pagination'];
type Query = ResourceConfig['query'];

const NEXT_PARAMETERS = {
  token: 'tokenParam',
  offset: 'offsetParam',
  page: 'pageParam',
  link: 'next',
  none: '',
} as const;

/**
 * Reads again in pages of half the size. Where the first page was all of the list, its second half has to come as a second
 * page: so the parameter for the next page is tried, too, and what says that there is one.
 */
export const paging: Experiment = {
  name: 'smaller pages',
  async run(subject) {
    const { resource, settings, first, received, attempt } = subject;
    const { pagination } = settings;
    const isWhole = first.count === received;
    if (pagination.kind === 'none' || first.count < 2) return [];
    const at = `resources.${resource.name}.pagination`;
    const key = NEXT_PARAMETERS[pagination.kind];
    const ignoredNext: Shown = {
      finding: 'parameter_ignored',
      setting: `${at}.${key}`,
      text: `${at}.${key}: the page after the first is the first one again (${first.count} items in all): the platform ignores the parameter`,
    };
    const sizeKey = pagination.sizeParam === null ? 'endParam' : 'sizeParam';
    const isSized =
      pagination.sizeParam !== null || (pagination.kind === 'offset' && pagination.endParam !== undefined);
    const found: Shown[] = [];
    if (isSized) {
      const size = Math.ceil(first.count / 2);
      const smaller = { pagination: { ...pagination, size } as Pagination };
      const [one, two] = await attempt({ settings: smaller, maxPages: isWhole ? 3 : 1 });
      if (one === undefined) return [];
      if (one.count < first.count) {
        if (!isWhole) return [];
        if (one.ids === two?.ids) return [ignoredNext];
        if (two !== undefined && two.count > 0) return [];
        const text = `${at}: in pages of ${size} items the list ends after ${one.count} of ${first.count} items; what ${at} reads of the total or of the next page speaks of one page alone, or ${at}.${key} counts otherwise`;
        return [{ finding: 'pages_incomplete', setting: at, text }];
      }
      if (one.ids === first.ids) {
        const text = `${at}.${sizeKey}: ${size} items were asked for, and the same ${one.count} came: the platform ignores the parameter; name the one that it reads, or write sizeParam: null`;
        found.push({ finding: 'parameter_ignored', setting: `${at}.${sizeKey}`, text });
      }
    }
    // Without a total, the read itself has asked for a page behind the last.
    const hasTotal = pagination.total !== undefined || pagination.totalHeader !== undefined;
    if (!isWhole || pagination.kind !== 'offset' || !hasTotal) return found;
    const [shifted] = await attempt({ settings: asking(settings, { [pagination.offsetParam]: 1 }) });
    return shifted?.ids === first.ids ? [...found, ignoredNext] : found;
  },
};

/** A list that is asked for once, with these parameters in the query or the body. */
function asking(
  { query, body }: ResourceConfig,
  parameters: Readonly<Record<string, number>>,
): Partial<ResourceConfig> {
  const entries = Object.entries(parameters);
  const places = Object.fromEntries(entries.filter(([name]) => body !== undefined && name.startsWith('/')));
  const added = Object.fromEntries(
    entries.filter(([name]) => !(name in places)).map(([name, value]) => [name, `${value}`]),
  );
  return {
    pagination: { kind: 'none' },
    query: { ...query, ...added },
    ...(body && { body: fillBody(body, places) as typeof body }),
  };
}

/** Every entry of `query`, without it and with a value that makes no sense; a flag also turned around. */
export const query: Experiment = {
  name: 'query',
  async run(subject) {
    const { settings, first, isWritten } = subject;
    // Of fewer items, nearly every filter and order gives the same.
    if (first.count < 2) return [];
    const found: Shown[] = [];
    for (const name of Object.keys(settings.query)) {
      const isDefault = !isWritten('query') && isWritten('path');
      if (isDefault || parametersOf(settings.pagination).includes(name)) continue;
      if (await isIgnored(subject, name)) found.push(ignored(subject, name));
    }
    return found;
  },
};

async function isIgnored(subject: Subject, name: string): Promise<boolean> {
  const { settings } = subject;
  const { [name]: value, ...without } = settings.query;
  const queries: Query[] = [{ ...settings.query, [name]: 'portico-probe' }, without];
  if (value === 'true' || value === 'false') queries.push({ ...settings.query, [name]: `${value === 'false'}` });
  for (const changed of queries) if (!(await isSame(subject, { settings: { query: changed } }))) return false;
  return true;
}

/** Whether the first page is the same with a variation. Where its items are never the same twice, their ids decide. */
async function isSame({ first, attempt }: Subject, variation: Variation): Promise<boolean> {
  const [look] = await attempt(variation);
  if (look?.ids !== first.ids) return false;
  if (look.content === first.content) return true;
  const [again] = await attempt({});
  return again?.ids === first.ids && again.content !== first.content && keysOf(look) === keysOf(first);
}

/** The members of the items: where they differ, a parameter chooses fields. */
function keysOf({ content }: Look): string {
  const items: unknown[] = JSON.parse(content);
  return JSON.stringify(items.map((item) => Object.keys(Object(item)).sort()));
}

function ignored({ resource, settings, first }: Subject, name: string): Shown {
  const { [name]: value = '' } = settings.query;
  const setting = `resources.${resource.name}.query.${name}`;
  const text = `${setting} seems to do nothing: without it, and with a value that makes no sense, the same first page comes (${first.count} items); the platform ignores it, or all items fit it`;
  const mayBeRight = canFitAll(name, `${value}`, JSON.parse(first.content));
  return { finding: 'parameter_ignored', setting, text, ...(mayBeRight && { mayBeRight }) };
}

/**
 * Whether a platform that reads a parameter can send the same without it: a flag that fits all items, unless a member of that
 * name says otherwise; `all`; and an order in which they are anyway. Any other value that makes no sense fits none.
 */
function canFitAll(name: string, value: string, items: readonly unknown[]): boolean {
  const members = items.map((item) => Object(item) as Record<string, unknown>);
  if (value === 'true' || value === 'false') {
    return members.every(({ [name]: flag }) => typeof flag !== 'boolean' || `${flag}` === value);
  }
  if (/^(?:all|asc|desc)$/i.test(value) || /sort|order/i.test(name)) return true;
  const order = value.replace(/^[-+]/, '');
  return order !== '' && Object.keys(members[0] ?? {}).some((member) => member.startsWith(order));
}

function parametersOf(pagination: Pagination): unknown[] {
  return Object.entries(pagination).flatMap(([key, value]) => (key.endsWith('Param') ? [value] : []));
}
