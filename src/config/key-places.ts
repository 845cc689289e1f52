import { z } from 'zod';
import { RESOURCES } from '../resources/index.ts';
import { Settings } from './schema/settings.ts';

type Schema = z.core.$ZodType;
type Places = Map<string, Set<string>>;

/** A key that is valid in more places than this says little about where it was meant to stand. */
const FEW = 2;
const ONE_RESOURCE = new RegExp(`^resources\\.(${RESOURCES.map(({ name }) => name).join('|')})`);

let known: Places | undefined;

/** `; it belongs under upstreams.<name>` for a key that settings have, only elsewhere; else nothing. */
export function belongsUnder(key: string): string {
  known ??= collect(Settings, '', new Map());
  const places = [...(known.get(key) ?? [])];
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
  return `under ${place.replace(ONE_RESOURCE, 'resources.<name>')}${suffix}`;
}
