import type { LoadedConfig } from '../../core/config/load-config.ts';
import { namesIn } from '../../core/config/schema/resource/templates.ts';
import { assertDefined, type Config, type ResourceConfig, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Resource } from '../../core/resources/resource.ts';

/** One of the lists that a resource consists of, as if it were a resource by itself. */
export interface ListPart {
  /** Its place in the settings of the resource: `lists.0` or `each`. @default the resource itself */
  readonly list: string | undefined;
  readonly settings: ResourceConfig;
  /** Returns the settings path of a key, which is the resource's where the part has none of its own. */
  readonly keyOf: (key: string) => string;
  readonly isWritten: (key: string) => boolean;
}

/** Returns the lists of a resource, and that of parents that are not offered, and so have no report of their own. */
export function partsOf(resource: Resource, { config, isWritten }: LoadedConfig): ListPart[] {
  const { name } = resource;
  const settings = resourceConfig(config, resource);
  const { each, lists } = settings;
  const named =
    typeof each === 'string' ? assertDefined(Object.entries(config.resources).find(([of]) => of === each))[1] : each;
  const blocks: [list: string | undefined, object][] = lists?.map((block, index) => [`lists.${index}`, block]) ?? [
    [undefined, {}],
  ];
  if (named !== undefined && !('enabled' in named && named.enabled))
    blocks.push(['each', 'id' in named ? parentsOf(settings, named.id, named) : named]);
  return blocks.map(([list, own]) => {
    const keyOf = keysOf(config, name, list);
    // Expressions may use a parent, of which a list by itself has none.
    const alone = { enabled: true, where: undefined, each: undefined, lists: undefined };
    return {
      list,
      settings: { ...settings, ...own, ...alone },
      keyOf,
      // Keys of an entry of lists, which are longer, have no defaults.
      isWritten: (key) => keyOf(key).split('.').length > 3 || isWritten(keyOf(key).split('.')),
    };
  });
}

function parentsOf({ fields }: ResourceConfig, id: string, own: object): object {
  const withId = { ...fields, id: { ...assertDefined(fields['id']), from: id } };
  return { ...own, method: 'GET', body: undefined, notFound: 'error', fields: withId };
}

/** Returns the settings path of each key of one list of a resource. */
function keysOf(config: Config, name: string, list: string | undefined): (key: string) => string {
  const { each } = Object(valueAt(config, `resources.${name}`)) as Partial<ResourceConfig>;
  const block = list === 'each' && typeof each === 'string' ? each : `${name}.${list}`;
  return (key) => {
    const own = `resources.${block}.${key}`.replace('.each.fields.id', '.each.id');
    return list !== undefined && valueAt(config, own) !== undefined ? own : `resources.${name}.${key}`;
  };
}

function valueAt(config: Config, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((block, name) => (block as Record<string, unknown> | undefined)?.[name], config);
}

/** Returns the settings with the values of the parent and the caller that a request was sent with; `undefined` if it is for another list. */
export function settingsOf(settings: ResourceConfig, baseUrl: string, target: string): ResourceConfig | undefined {
  const { pathname, searchParams } = new URL(target, baseUrl);
  const path = pathname.slice(new URL(baseUrl).pathname.replace(/\/$/, '').length);
  const asked = path.split('/');
  const segments = new URL(settings.path, baseUrl).pathname.split('/');
  const isNamed = (value: string | readonly string[]) => namesIn(JSON.stringify(value)).length > 0;
  const query = Object.entries(settings.query);
  const fits =
    asked.length === segments.length &&
    segments.every((segment, index) => segment.includes('%7B') || segment === asked[index]) &&
    query.every(([name, value]) => isNamed(value) || searchParams.getAll(name).join() === [value].flat().join());
  if (!fits) return undefined;
  const filled = query.map(([name, value]) => [name, isNamed(value) ? searchParams.getAll(name) : value]);
  return { ...settings, path, query: Object.fromEntries(filled) };
}
