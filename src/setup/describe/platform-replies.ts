import type { Resource } from '../../core/resources/resource.ts';
import { guessFields } from '../guess/guess-fields.ts';
import { guessItems, isInDoubt } from '../guess/guess-items.ts';
import { LIKELY, VOCABULARIES } from '../guess/vocabulary.ts';
import { type Ask, discoverParameters, type Reply } from './discover-parameters.ts';
import type { Listing } from './listing.ts';
import { lastName } from './openapi-document.ts';
import { shapeOfValue } from './shape.ts';

/**
 * Finds the lists of a platform by its replies: the one at `path`, or else those below `path` that have the usual names of
 * `resources` and items with an id and a name.
 */
export async function findListings(ask: Ask, path: string, resources: readonly Resource[]): Promise<Listing[]> {
  const named = await listingAt(ask, path);
  if (named !== undefined) return [await discoverParameters(ask, named.listing, named.body)];
  const listings: Listing[] = [];
  for (const resource of resources) {
    for (const name of usualNames(resource)) {
      const found = await listingAt(ask, `${path.replace(/\/$/, '')}/${name}`);
      if (found === undefined || !isLike(resource, found.listing)) continue;
      listings.push(await discoverParameters(ask, found.listing, found.body));
      break;
    }
  }
  return listings;
}

function usualNames({ name }: Resource): string[] {
  const likely = Object.entries(VOCABULARIES[name] ?? {}).filter(([, weight]) => weight >= LIKELY);
  const plurals = likely.map(([phrase]) => phrase.replaceAll(' ', '-').replace(/y$/, 'ie').concat('s'));
  return [...new Set([name, ...plurals])];
}

async function listingAt(ask: Ask, path: string) {
  const reply = await ask(path);
  if (reply?.status !== 200 || reply.body === undefined) return undefined;
  const listing = listingOf(path, lastName(path), reply);
  return listing && { listing, body: reply.body };
}

/** Describes the list in a reply. Undefined if there is none. */
function listingOf(path: string, name: string, { body: value, headers }: Reply): Listing | undefined {
  const body = shapeOfValue(value);
  const guesses = guessItems(body, name);
  const [found] = guesses;
  if (found === undefined) return undefined;
  const { items, item, count = 0 } = found;
  const unknown = { title: '', parameters: [], deprecated: false, mediaType: '', security: [] };
  return { ...unknown, path, items, itemsInDoubt: isInDoubt(guesses), item, body, headers, count };
}

/** Whether items have an id and a name. An empty list shows neither. */
function isLike(resource: Resource, { item }: Listing): boolean {
  const fields = guessFields(resource, item, '');
  return fields.get('id')?.from !== undefined && fields.get('name')?.from !== undefined;
}
