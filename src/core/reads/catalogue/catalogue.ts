import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Definition, Resource } from '../../resources/resource.ts';
import type { Load, Read, ReadOptions } from '../snapshots/load.ts';
import { createSnapshotWriter, type Snapshot } from '../snapshots/snapshot.ts';

/** A resource that can be listed and read here. */
export interface Offered {
  readonly resource: Resource;
  readonly definition: Definition;
  /** Values of fields that settings name: by field, only where there are some. The same for every caller. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Scopes that a caller needs to read it, all of them. */
  readonly requiredScopes: readonly string[];
}

/** The core: what both edges ask. */
export interface Catalogue {
  /** Every resource that is offered, in the order of the list. */
  readonly offered: readonly Offered[];
  /** The list of definitions, as it goes over the wire. */
  readonly list: Snapshot;
  /** Name of the resource behind a URI; throws `resource_unknown` where there is none. */
  find(uri: string): string;
  /**
   * Reads one resource whole, as this caller may see it: at once where what is held may be served. Throws, or rejects
   * with, a {@link GatewayError}, `access_denied` where the caller lacks a scope; rejects with the signal's reason once that
   * aborts.
   */
  read(name: string, caller: Caller, options: ReadOptions): Load | Promise<Load>;
}

export function createCatalogue(entries: readonly (Offered & { readonly read: Read })[]): Catalogue {
  const names = new Map(entries.map(({ definition, resource }) => [definition.uri, resource.name]));
  const reads = new Map(
    entries.map(({ resource, requiredScopes, read }) => [resource.name, withScopes(read, requiredScopes)]),
  );
  const unknown = () => {
    const detail = `No resource has this uri. There are: ${[...names.keys()].join(', ')}.`;
    return new GatewayError('resource_unknown', { detail });
  };
  const writer = createSnapshotWriter(Date.now());
  writer.add(entries.map(({ definition }) => definition));
  return {
    offered: entries.map(({ resource, definition, known, requiredScopes }) => ({
      ...{ resource, definition, known, requiredScopes },
    })),
    list: writer.finish(),
    find(uri) {
      const name = names.get(uri);
      if (name === undefined) throw unknown();
      return name;
    },
    read(name, caller, options) {
      const read = reads.get(name);
      if (read === undefined) throw unknown();
      return read(caller, options);
    },
  };
}

/** Reads for those alone whose token grants all of these scopes. What is not known of a caller is not granted. */
function withScopes(read: Read, scopes: readonly string[]): Read {
  if (scopes.length === 0) return read;
  const detail = `Reading this resource takes an access token with ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(' ')}.`;
  return (caller, options) => {
    const granted = caller.verified?.scopes;
    if (scopes.every((scope) => granted?.has(scope))) return read(caller, options);
    throw new GatewayError('access_denied', { detail, scopes, reason: 'a scope is missing' });
  };
}
