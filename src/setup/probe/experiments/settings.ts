import type { Experiment } from './experiment.ts';

/** What the read itself shows, without a request more. */
export const SETTINGS_EXPERIMENTS: readonly Experiment[] = [
  {
    name: 'empty list',
    run({ resource, settings, received }) {
      if (received > 0 || settings.allowEmpty) return [];
      const setting = `resources.${resource.name}.items`;
      return [
        {
          finding: 'list_empty',
          setting,
          text: `the list is empty: nothing shows that ${setting} and the fields are right`,
        },
      ];
    },
  },
  {
    name: 'default query',
    run({ resource, settings, isWritten }) {
      const names = Object.keys(resource.query);
      if (names.length === 0 || isWritten('query') || !isWritten('path')) return [];
      const setting = `resources.${resource.name}.query`;
      const sent = names.map((name) => `${name}=${settings.query[name]}`).join('&');
      const text = `query is left out, and path is not: ${sent} of the default contract is sent; write query: {}, or what this platform takes`;
      return [{ finding: 'default_query', setting, text }];
    },
  },
  {
    name: 'defaults',
    run({ resource, settings, first, items, defaulted }) {
      const page: readonly unknown[] = JSON.parse(first.content);
      return [...defaulted]
        .filter(([field, times]) => items > 0 && times === items && (settings.fields[field]?.default ?? '') !== '')
        .filter(([field]) => !page.some((item) => hasMember(item, settings.fields[field]?.from ?? '')))
        .map(([field]) => ({
          finding: 'default_hides_field' as const,
          setting: `resources.${resource.name}.fields.${field}`,
          text: `the default of the field ${field} stands in every item (${items} of ${items}): no item has what its expression names`,
        }));
    },
  },
];

/** Whether an item has the member that a plain path names, if only as null: then its default is meant, and hides no mistake. */
function hasMember(item: unknown, path: string): boolean {
  const [name = '', ...rest] = path.split('.');
  const members = Object(item) as Record<string, unknown>;
  return Object.hasOwn(members, name) && (rest.length === 0 || hasMember(members[name], rest.join('.')));
}
