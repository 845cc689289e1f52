import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import type { AuthorizationSettings } from '../../core/credentials/authorize.ts';
import type { Resource } from '../../core/resources/resource.ts';
import type { TappedRequest } from '../../core/upstream/upstream.ts';
import type { InspectedPage } from './inspected-page.ts';
import type { ListPart } from './list-parts.ts';
import type { Finding } from './probe-report.ts';
import type { ReadAgain } from './varied-reads.ts';

/** A read that succeeded, as experiments see it. */
export interface ReadSubject {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly first: InspectedPage;
  readonly received: number;
  /** The list as it is served. */
  readonly served: readonly Readonly<Record<string, string>>[];
  /** How many items took the default of a field. */
  readonly defaulted: ReadonlyMap<string, number>;
}

/** One list of the resource, as if it were read by itself. */
export interface ListSubject extends ListPart, Pick<ReadSubject, 'resource' | 'first' | 'received'> {
  readonly credential: AuthorizationSettings;
  readonly request: TappedRequest;
  readonly readAgain: ReadAgain;
}

export function emptyList({ resource, settings, received, first }: ReadSubject): Finding[] {
  if (received > 0 || settings.allowEmpty) return [];
  const setting = `resources.${resource.name}.items`;
  const text = `the list is empty (${first.emptyAs ?? '[]'}), so ${setting} and the fields could not be checked`;
  return [{ finding: 'list_empty', setting, text }];
}

export function defaultQuery({ resource, settings, keyOf, isWritten }: ListSubject): Finding[] {
  const names = Object.keys(resource.query);
  if (names.length === 0 || isWritten('query') || !isWritten('path')) return [];
  const sent = names.map((name) => `${name}=${settings.query[name]}`).join('&');
  const text = `path is set but query is not, so ${sent} of the default contract is sent: set query: {} or the parameters of this platform`;
  return [{ finding: 'default_query', setting: keyOf('query'), text }];
}

export function defaults({ resource, settings, first, served, defaulted }: ReadSubject): Finding[] {
  const page: readonly unknown[] = JSON.parse(first.content);
  const items = served.length;
  return [...defaulted].flatMap(([field, times]) => {
    const { default: text = '', from = '' } = settings.fields[field] ?? {};
    if (items === 0 || times !== items || text === '' || page.some((item) => hasMember(item, from))) return [];
    const why = `every item has the default of the field ${field} (${items} of ${items}), because no item has the member in its expression`;
    return [{ finding: 'default_hides_field', setting: `resources.${resource.name}.fields.${field}`, text: why }];
  });
}

const MAX_VALUES = 10;

/** A text that `values` does not name is served as it is. */
export function unmappedValues({ resource, settings, served }: ReadSubject): Finding[] {
  return Object.entries(settings.fields).flatMap(([field, { values, default: text }]) => {
    const known = new Set([...Object.values(values), text]);
    if (Object.keys(values).length === 0) return [];
    const others = served.map((item) => item[field] ?? '').filter((value) => !known.has(value));
    if (others.length === 0) return [];
    const setting = `resources.${resource.name}.fields.${field}.values`;
    const seen = [...new Set(others)].slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
    const found = `${others.length} of ${served.length} items have texts that ${setting} does not name: ${seen.join(', ')}`;
    return [{ finding: 'value_unmapped', setting, text: `${found}; they are served as they are` }];
  });
}

/** A total that contradicts the list, while settings turn its check off. */
export function checksOff({ keyOf, settings, received, first: { total } }: ListSubject): Finding[] {
  if (!settings.pagination.ignoreSigns?.includes('total') || total <= received) return [];
  const setting = keyOf('pagination.ignoreSigns');
  const text = `the reply states a total of ${total}, and ${received} items were read; ${setting} turns the check of this off`;
  return [{ finding: 'check_off', setting, text }];
}

/** Whether an item has the member at a plain path, if only as null: then a default is intended. */
function hasMember(item: unknown, path: string): boolean {
  const [name = '', ...rest] = path.split('.');
  const members = Object(item) as Record<string, unknown>;
  return Object.hasOwn(members, name) && (rest.length === 0 || hasMember(members[name], rest.join('.')));
}
