import type { LoadedConfig } from '../../core/config/load-config.ts';
import { namesIn } from '../../core/config/schema/resource/templates.ts';
import { assertDefined, type ResourceConfig, resourceConfig } from '../../core/config/schema/settings.ts';
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
  const blocks: [list: string | undefined, at: string, block: object][] = lists?.map((block, index) => {
    return [`lists.${index}`, `resources.${name}.lists.${index}`, block];
  }) ?? [[undefined, `resources.${name}`, settings]];
  const [parents, named] = Object.entries(config.resources).find(([of]) => of === each) ?? [];
  if (named !== undefined && !named.enabled) blocks.push(['each', `resources.${parents}`, named]);
  if (typeof each === 'object') blocks.push(['each', `resources.${name}.each`, each]);
  return blocks.map(([list, at, block]) => {
    const keyOf = (key: string) => `${key.replace(/\..*/, '') in block ? at : `resources.${name}`}.${key}`;
    const own = block === each ? parentsOf(settings, each.id, each) : block;
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
