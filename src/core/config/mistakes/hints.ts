import { z } from 'zod';
import { ask, closest } from './close-words.ts';

type Schema = z.core.$ZodType;
type Places = Map<string, Set<string>>;

/** Where settings have each of their keys. */
export function placesOfKeys(settings: Schema): Places {
  return collect(settings, '', new Map());
}

/**
 * Hint for a key that the block does not have: the key of the block that was probably meant, or the place where settings
 * have this key. A typing error comes first: `upstream` at the top level is `upstreams`, although resources have a key of
 * that name. `<<` is a merge key of YAML 1.1.
 */
export function hintForKey(key: string, siblings: readonly string[], places: Places): string {
  if (key === '<<') return ': YAML 1.2 has no merge keys; write the keys out';
  const best = closest(key, siblings);
  return best?.isSlip === true ? ask(best) : belongsUnder(key, places) || ask(best);
}

/** A key that is valid in more places than this says little about where it was meant to stand. */
const FEW = 2;

/** `; it belongs under upstreams.<name>` for a key that settings have, only elsewhere; else nothing. */
function belongsUnder(key: string, keys: Places): string {
  const places = [...(keys.get(key) ?? [])];
  return places.length === 0 || places.length > FEW ? '' : `; it belongs ${places.join(' or ')}`;
}

function collect(schema: Schema, place: string, places: Places): Places {
  if (schema instanceof z.ZodPrefault) return collect(schema.unwrap(), place, places);
  if (schema instanceof z.ZodRecord) return collect(schema.valueType, `${place}.<name>`, places);
  if (schema instanceof z.ZodUnion) for (const option of schema.options) collect(option, place, places);
  if (!(schema instanceof z.ZodObject)) return places;
  for (const [key, child] of Object.entries(schema.shape)) {
    places.set(key, (places.get(key) ?? new Set()).add(describe(schema, place)));
    collect(child, place === '' ? key : `${place}.${key}`, places);
  }
  return places;
}

function describe({ shape }: z.ZodObject, place: string): string {
  if (place === '') return 'at the top level';
  const { kind } = shape;
  const suffix = kind instanceof z.ZodLiteral ? ` of kind ${kind.value}` : '';
  return `under ${place.replace(/^resources\.[^.]+/, 'resources.<name>')}${suffix}`;
}
