import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Definition } from '../resources/resource.ts';
import type { Load, Loader, Terms } from '../snapshots/load.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import { createSnapshotWriter } from '../snapshots/snapshot-writer.ts';

/** One resource that can be listed and read. */
export interface CatalogueEntry {
  readonly definition: Definition;
  /** Key of the resource in settings; names it in logs. */
  readonly name: string;
  readonly load: Loader;
}

/** The core: what both edges ask. */
export interface Catalogue {
  /** The list of definitions, as it goes over the wire. */
  readonly list: Snapshot;
  /** Name of the resource behind a URI; throws `resource_unknown` where there is none. */
  find(uri: string): string;
  /** Reads one resource whole, as this caller may see it. Throws {@link GatewayError}, or `signal`'s reason. */
  read(name: string, caller: Caller, signal: AbortSignal, terms?: Pick<Terms, 'noCache'>): Promise<Load>;
}

export function createCatalogue(entries: readonly CatalogueEntry[]): Catalogue {
  const names = new Map(entries.map((entry) => [entry.definition.uri, entry.name]));
  const loaders = new Map(entries.map((entry) => [entry.name, entry.load]));
  const uris = entries.map((entry) => entry.definition.uri).join(', ');
  const writer = createSnapshotWriter(Date.now());
  writer.add(entries.map((entry) => entry.definition));
  const known = <T>(value: T | undefined): T => {
    if (value !== undefined) return value;
    throw new GatewayError('resource_unknown', { detail: `No resource has this uri. There are: ${uris}.` });
  };
  return {
    list: writer.finish(),
    find: (uri) => known(names.get(uri)),
    read: async (name, caller, signal, terms) => known(loaders.get(name))(caller, signal, terms),
  };
}
