import type { ResourceConfig } from '../../../core/config/schema/settings.ts';
import type { Finding } from '../probe-report.ts';
import type { Experiment, Subject } from './experiment.ts';

type Query = ResourceConfig['query'];

/** Reads without each entry of `query`, and with a value that makes no sense; flags are also inverted. */
export const queryEntries: Experiment = {
  name: 'query',
  async run(subject) {
    const { settings, first, isWritten } = subject;
    // With fewer items, most filters and orders change nothing. Entries of the default contract are another finding.
    if (first.count < 2 || (!isWritten('query') && isWritten('path'))) return [];
    const pagination = Object.entries(settings.pagination);
    const paging = pagination.flatMap(([key, value]) => (key.endsWith('Param') ? [`${value}`] : []));
    const found: Finding[] = [];
    for (const name of Object.keys(settings.query)) {
      if (!paging.includes(name) && (await isIgnored(subject, name))) found.push(ignored(subject, name));
    }
    return found;
  },
};

async function isIgnored(subject: Subject, name: string): Promise<boolean> {
  const { settings } = subject;
  const { [name]: value, ...without } = settings.query;
  const queries: Query[] = [{ ...settings.query, [name]: 'portico-probe' }, without];
  if (value === 'true' || value === 'false') queries.push({ ...settings.query, [name]: `${value === 'false'}` });
  for (const query of queries) {
    const [look] = await subject.attempt({ settings: { query } });
    if (look?.content !== subject.first.content) return false;
  }
  return true;
}

function ignored({ resource, settings, first }: Subject, name: string): Finding {
  const { [name]: value = '' } = settings.query;
  const setting = `resources.${resource.name}.query.${name}`;
  const text = `${setting} seems to have no effect: without it, and with a value that makes no sense, the same first page comes (${first.count} items); the platform ignores it, or all items match it`;
  const mayBeRight = canMatchAll(name, `${value}`, JSON.parse(first.content));
  return { finding: 'parameter_ignored', setting, text, ...(mayBeRight && { mayBeRight }) };
}

/**
 * Whether a platform that reads a parameter can send the same without it: a flag that all items match, unless a member of that
 * name differs; `all`; and an order in which the items are anyway. Any other value that makes no sense matches none.
 */
function canMatchAll(name: string, value: string, items: readonly unknown[]): boolean {
  const members = items.map((item) => Object(item) as Record<string, unknown>);
  if (value === 'true' || value === 'false') {
    return members.every(({ [name]: flag }) => typeof flag !== 'boolean' || `${flag}` === value);
  }
  if (/^(?:all|asc|desc)$/i.test(value) || /sort|order/i.test(name)) return true;
  const order = value.replace(/^[-+]/, '');
  return order !== '' && Object.keys(members[0] ?? {}).some((member) => member.startsWith(order));
}
