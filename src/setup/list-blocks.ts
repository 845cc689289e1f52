import type { ConfigIssue } from '../core/config/config-error.ts';
import type { ResourceConfig } from '../core/config/schema/settings.ts';

/** What the settings of a resource, of its parents and of a list that it joins have in common. */
interface ListBlock extends Pick<ResourceConfig, 'path'> {
  readonly id?: string;
  readonly query?: ResourceConfig['query'] | undefined;
  readonly items?: string | undefined;
  readonly where?: string | undefined;
  readonly pagination?: ResourceConfig['pagination'] | undefined;
}

type Placed = readonly [at: ConfigIssue['path'], ListBlock];

/** Returns the blocks that describe a list, by their places: of a resource, its own parents and the lists that it joins. */
export function listBlocks(name: string, settings: ResourceConfig): readonly [Placed, ...Placed[]] {
  const { each, lists = [] } = settings;
  const at = ['resources', name];
  return [
    [at, settings],
    ...(typeof each === 'object' ? [[[...at, 'each'], each] satisfies Placed] : []),
    ...lists.map((block, index): Placed => [[...at, 'lists', index], block]),
  ];
}
