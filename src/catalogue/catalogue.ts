import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Definition } from '../resources/resource.ts';
import type { Load, Source, Terms } from '../snapshots/load.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import { createSnapshotWriter } from '../snapshots/snapshot-writer.ts';

/** One resource that can be listed and read. */
export interface CatalogueEntry {
  readonly definition: Definition;
  /** Key of the resource in settings; names it in logs. */
  readonly name: string;
  readonly source: Source;
}

/** The core: what both edges ask. */
export interface Catalogue {
  /** The list of definitions, as it goes over the wire. */
  readonly list: Snapshot;
  /** Every URI, in the order of the list. */
  readonly uris: readonly string[];
  /** Name of the resource behind a URI; throws `resource_unknown` where there is none. */
  find(uri: string): string;
  /** Reads one resource whole, as this caller may see it. Throws {@link GatewayError}, or `signal`'s reason. */
  read(name: string, caller: Caller, signal: AbortSignal, terms?: Pick<Terms, 'noCache'>): Promise<Load>;
  /** What `read` would give at once, if that is fresh and nobody need be asked. */
  fresh(name: string, caller: Caller): Load | undefined;
}

export function createCatalogue(entries: readonly CatalogueEntry[]): Catalogue {
  const names = new Map(entries.map((entry) => [entry.definition.uri, entry.name]));
  const sources = new Map(entries.map((entry) => [entry.name, entry.source]));
  const uris = entries.map((entry) => entry.definition.uri);
  const writer = createSnapshotWriter(Date.now());
  writer.add(entries.map((entry) => entry.definition));
  const known = <T>(value: T | undefined): T => {
    if (value !== undefined) return value;
    throw new GatewayError('resource_unknown', { detail: `No resource has this uri. There are: ${uris.join(', ')}.` });
  };
  return {
    list: writer.finish(),
    uris,
    find: (uri) => known(names.get(uri)),
    read: async (name, caller, signal, terms) => known(sources.get(name)).load(caller, signal, terms),
    fresh: (name, caller) => sources.get(name)?.fresh(caller),
  };
}
