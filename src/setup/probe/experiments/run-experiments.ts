import type { Finding, Untried } from '../probe-report.ts';
import type { Experiment, Subject } from './experiment.ts';
import { publicList } from './public-list.ts';
import { queryEntries } from './query-entries.ts';
import { smallerPages } from './smaller-pages.ts';
import { NotTried } from './trials.ts';

const emptyList: Experiment = {
  name: 'empty list',
  run({ resource, settings, received }) {
    if (received > 0 || settings.allowEmpty) return [];
    const setting = `resources.${resource.name}.items`;
    const text = `the list is empty: nothing shows that ${setting} and the fields are right`;
    return [{ finding: 'list_empty', setting, text }];
  },
};

const defaultQuery: Experiment = {
  name: 'default query',
  run({ resource, settings, isWritten }) {
    const names = Object.keys(resource.query);
    if (names.length === 0 || isWritten('query') || !isWritten('path')) return [];
    const setting = `resources.${resource.name}.query`;
    const sent = names.map((name) => `${name}=${settings.query[name]}`).join('&');
    const text = `query is missing, and path is not: ${sent} of the default contract is sent; write query: {}, or the parameters of this platform`;
    return [{ finding: 'default_query', setting, text }];
  },
};

const defaults: Experiment = {
  name: 'defaults',
  run({ resource, settings, first, items, defaulted }) {
    const page: readonly unknown[] = JSON.parse(first.content);
    return [...defaulted]
      .filter(([field, times]) => items > 0 && times === items && (settings.fields[field]?.default ?? '') !== '')
      .filter(([field]) => !page.some((item) => hasMember(item, settings.fields[field]?.from ?? '')))
      .map(([field]) => ({
        finding: 'default_hides_field' as const,
        setting: `resources.${resource.name}.fields.${field}`,
        text: `every item has the default of the field ${field} (${items} of ${items}): no item has the member that its expression names`,
      }));
  },
};

/** Whether an item has the member at a plain path, if only as null: then a default is intended. */
function hasMember(item: unknown, path: string): boolean {
  const [name = '', ...rest] = path.split('.');
  const members = Object(item) as Record<string, unknown>;
  return Object.hasOwn(members, name) && (rest.length === 0 || hasMember(members[name], rest.join('.')));
}

/** In the order in which they run. The first three need no request. */
const EXPERIMENTS = [emptyList, defaultQuery, defaults, publicList, smallerPages, queryEntries];

/** Runs all experiments on one read. */
export async function runExperiments(
  subject: Subject,
  onExperiment: (name: string) => void,
): Promise<{ readonly findings: readonly Finding[]; readonly notTried: readonly Untried[] }> {
  const findings: Finding[] = [];
  const notTried: Untried[] = [];
  for (const { name, run } of EXPERIMENTS) {
    onExperiment(name);
    try {
      findings.push(...(await run(subject)));
    } catch (error) {
      if (!(error instanceof NotTried)) throw error;
      notTried.push({ experiment: name, why: error.message });
    }
  }
  return { findings, notTried };
}
