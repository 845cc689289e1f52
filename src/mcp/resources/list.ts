import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Definition } from '../../resources/resource.ts';

/** What `resources/list` shows: `name` is for programs and `title` for people, unlike in the HTTP list. */
export function listResources({ list, find }: Pick<Catalogue, 'list' | 'find'>) {
  const definitions: Definition[] = JSON.parse(list.bytes.toString());
  return definitions.map(({ uri, name, description, mimeType }) => ({
    uri,
    name: find(uri),
    title: name,
    description,
    mimeType,
    annotations: { audience: ['user' as const, 'assistant' as const] },
  }));
}
