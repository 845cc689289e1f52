import type { ResourceName } from '../../resources/index.ts';
import type { SettingsShape } from './settings-shape.ts';

/** `{claim.tenant}` or `{header.X-Tenant-ID}`. */
export const CALLER_VALUE = /\{((?:claim|header)\.[^{}"]+)\}/g;

/** Returns the values of a caller that a block of settings names, such as `claim.tenant`. */
export function callerValuesIn(block: unknown): string[] {
  const names = [...JSON.stringify(block ?? null).matchAll(CALLER_VALUE)].map(([, name = '']) => name);
  return [...new Set(names)];
}

type OneResource = Pick<SettingsShape['resources'][ResourceName], 'path' | 'query' | 'lists' | 'each'>;

/** Returns the parts of a resource's settings that may name values of the caller. */
export function partsWithValues({ path, query, lists, each }: OneResource) {
  return { path, query, lists, each };
}

/** Returns the names of all values that settings name, by their source. */
export function callerValueNames({ upstreams, resources }: Pick<SettingsShape, 'upstreams' | 'resources'>) {
  const blocks = [
    Object.values(upstreams).map(({ headers }) => headers),
    Object.values(resources).map(partsWithValues),
  ];
  const names = callerValuesIn(blocks);
  const from = (source: string) =>
    names.flatMap((name) => (name.startsWith(source) ? [name.slice(source.length)] : []));
  const forwarded = Object.values(upstreams).flatMap(({ forwardHeaders }) => forwardHeaders);
  return { claims: from('claim.'), headers: [...new Set([...forwarded, ...from('header.')])] };
}
