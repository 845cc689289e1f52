import type { Resource } from '../../core/resources/resource.ts';
import { proposeFields } from '../guesses/fields.ts';
import { findItems } from '../guesses/items.ts';
import { learnPaging } from '../guesses/learning.ts';
import { VOCABULARIES } from '../guesses/words.ts';
import type { Description } from './document.ts';
import type { Listing } from './listing.ts';
import type { Ask, SeenList } from './reply.ts';
import { shapeOfValue } from './shape.ts';

/** Words that are likely enough to be asked for. */
const LIKELY = 6;

/**
 * Describes a platform by its own replies. `paths` are those that a person named; where none of them is a list, lists are
 * looked for below the first by their usual names.
 */
export async function describeByAsking(ask: Ask, path: string, resources: readonly Resource[]): Promise<Description> {
  const named = await listAt(ask, path);
  const listings: Listing[] = named === undefined ? [] : [await listingOf(ask, named)];
  if (named === undefined) {
    for (const resource of resources) {
      for (const name of usualNames(resource)) {
        const found = await listAt(ask, `${path.replace(/\/$/, '')}/${name}`);
        if (found === undefined || !isLike(resource, found)) continue;
        listings.push(await listingOf(ask, found));
        break;
      }
    }
  }
  return { title: '', server: '', listings, schemes: {}, resolve: () => undefined, external: 0 };
}

function usualNames({ name }: Resource): string[] {
  const vocabulary = Object.entries(VOCABULARIES[name] ?? {}).filter(([, weight]) => weight >= LIKELY);
  const plurals = vocabulary.map(([phrase]) => phrase.replaceAll(' ', '-').replace(/y$/, 'ie').concat('s'));
  return [...new Set([name, ...plurals])];
}

async function listAt(ask: Ask, path: string): Promise<SeenList | undefined> {
  const reply = await ask(path);
  if (reply === undefined || reply.status !== 200 || reply.body === undefined) return undefined;
  const name = path.split('/').findLast((segment) => segment !== '') ?? '';
  const found = findItems(shapeOfValue(reply.body), name);
  return found === undefined ? undefined : { path, items: found.items, reply };
}

/** Whether an item has what no item may lack. An empty list tells nothing, and so is none. */
function isLike(resource: Resource, { items, reply }: SeenList): boolean {
  const item = findItems(shapeOfValue(reply.body), items)?.item;
  const fields = item && proposeFields(resource, item, '');
  return fields?.get('id')?.from !== undefined && fields.get('name')?.from !== undefined;
}

async function listingOf(ask: Ask, list: SeenList): Promise<Listing> {
  const { path, items, reply } = list;
  const body = shapeOfValue(reply.body);
  const found = findItems(body, path.split('/').findLast((segment) => segment !== '') ?? '');
  return {
    path,
    title: '',
    items,
    itemsInDoubt: found?.inDoubt ?? true,
    item: found?.item ?? body,
    body,
    headers: new Set(reply.headers.keys()),
    parameters: [],
    deprecated: false,
    mediaType: '',
    paging: await learnPaging(ask, list),
    security: [],
  };
}
