import { z } from 'zod';
import { closest, didYouMean, isSlip } from './close-words.ts';
import { removedKey } from './removed-keys.ts';

type Schema = z.core.$ZodType;
type Places = Map<string, Set<string>>;

/** A key that is valid in more places than this says little about where it was meant to stand. */
const FEW = 2;

/** Returns what is wrong with a key that its block does not have, and what was most likely meant. */
export function createUnknownKey(settings: Schema) {
  let places: Places | undefined;
  return (key: string, block: unknown, path: readonly PropertyKey[] = []): string => {
    const now = removedKey(path, key);
    if (now !== undefined) return `is no longer a setting: ${now}`;
    const siblings = block instanceof z.ZodObject ? Object.keys(block.shape) : [];
    const meant = closest(key, siblings);
    // A name that is not close to a field is mostly the platform's own: a place elsewhere in settings is no hint.
    if (path.at(-1) === 'fields' && meant === undefined) {
      return `unknown field; the documented ones are ${siblings.join(', ')}`;
    }
    // A typing error comes first: `upstream` at the top level is `upstreams`, although resources have a key of that name.
    if (meant !== undefined && isSlip(key, meant)) return `unknown key; did you mean ${meant}?`;
    places ??= collectPlaces(settings, '', new Map());
    const elsewhere = [...(places.get(key) ?? [])];
    if (elsewhere.length > 0 && elsewhere.length <= FEW) return `unknown key; it belongs ${elsewhere.join(' or ')}`;
    return `unknown key${didYouMean(key, siblings)}`;
  };
}

/** Where settings have each of their keys. */
function collectPlaces(schema: Schema, place: string, places: Places): Places {
  if (schema instanceof z.ZodPrefault) return collectPlaces(schema.unwrap(), place, places);
  if (schema instanceof z.ZodRecord) return collectPlaces(schema.valueType, `${place}.<name>`, places);
  if (schema instanceof z.ZodUnion) for (const option of schema.options) collectPlaces(option, place, places);
  if (!(schema instanceof z.ZodObject)) return places;
  for (const [key, child] of Object.entries(schema.shape)) {
    places.set(key, (places.get(key) ?? new Set()).add(describe(schema, place)));
    collectPlaces(child, place === '' ? key : `${place}.${key}`, places);
  }
  return places;
}

function describe({ shape }: z.ZodObject, place: string): string {
  if (place === '') return 'at the top level';
  const { kind } = shape;
  const suffix = kind instanceof z.ZodLiteral ? ` of kind ${kind.value}` : '';
  return `under ${place.replace(/^resources\.[^.]+/, 'resources.<name>')}${suffix}`;
}
