import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Definition, Resource } from '../../resources/resource.ts';
import type { Load, Read, ReadOptions } from '../snapshots/load.ts';
import { createSnapshot, encodeItems } from '../snapshots/snapshot.ts';

/** A resource that can be listed and read. */
export interface Offered {
  readonly resource: Resource;
  readonly definition: Definition;
  readonly upstream: string;
  /** Values that settings name, by field. Equal for all callers. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  readonly requiredScopes: readonly string[];
}

/** The interface of both edges to the core. */
export type Catalogue = ReturnType<typeof createCatalogue>;

export function createCatalogue(entries: readonly (Offered & { readonly read: Read })[]) {
  const names = new Map(entries.map(({ definition, resource }) => [definition.uri, resource.name]));
  const reads = new Map(
    entries.map(({ resource, requiredScopes, read }) => [resource.name, withScopes(read, requiredScopes)]),
  );
  const unknown = () => {
    const detail = `There is no resource with this uri. Resources are: ${[...names.keys()].join(', ')}.`;
    return new GatewayError('resource_unknown', { detail });
  };
  return {
    offered: entries.map(({ read: _, ...offered }): Offered => offered),
    /** Definitions as JSON bytes. */
    list: createSnapshot(encodeItems(entries.map(({ definition }) => definition)), Date.now()),
    /** Throws `resource_unknown`. */
    find(uri: string): string {
      const name = names.get(uri);
      if (name === undefined) throw unknown();
      return name;
    },
    /** Rejects with a {@link GatewayError}, or with the signal's reason when it aborts. */
    read(name: string, caller: Caller, options: ReadOptions): Promise<Load> {
      const read = reads.get(name);
      return read === undefined ? Promise.reject(unknown()) : read(caller, options);
    },
  };
}

/** Returns whether a caller has all scopes that reads of a resource require. Unknown scopes are not granted. */
export function mayRead(
  { requiredScopes }: Pick<Offered, 'requiredScopes'>,
  caller: Pick<Caller, 'verified'> | undefined,
): boolean {
  return requiredScopes.every((scope) => caller?.verified?.scopes.has(scope));
}

function withScopes(read: Read, requiredScopes: readonly string[]): Read {
  if (requiredScopes.length === 0) return read;
  const detail = `Reading this resource requires an access token with ${requiredScopes.length === 1 ? 'the scope' : 'the scopes'} ${requiredScopes.join(' ')}.`;
  return async (caller, options) => {
    if (mayRead({ requiredScopes }, caller)) return read(caller, options);
    throw new GatewayError('access_denied', { detail, scopes: requiredScopes, reason: 'a scope is missing' });
  };
}

/** The lists that are watched, and for whom. */
export interface WatchRequest {
  readonly resources: readonly string[];
  readonly caller: Caller;
  readonly catalogue: Pick<Catalogue, 'read'>;
  /** The watch ends when one of them aborts. */
  readonly until: readonly AbortSignal[];
  /** A local caller's watch has no time limit. */
  readonly isLocal: boolean;
}

/** Rejects with `credential_rejected` or `overloaded`. Yields changed lists; throws when the credential is rejected. */
export type Watch = (request: WatchRequest) => Promise<AsyncIterable<ChangedList>>;

/** A list as it was read last, by the name of its resource. */
export interface ChangedList {
  readonly name: string;
  readonly etag: string;
}
