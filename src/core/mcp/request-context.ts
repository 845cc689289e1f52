import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { RequestRecord } from '../kernel/request-record.ts';
import type { Catalogue } from '../reads/catalogue/catalogue.ts';
import type { Load } from '../reads/snapshots/load.ts';
import { cacheOutcome } from '../reads/snapshots/with-cache.ts';

/** The caller and context of a request. */
export interface RequestContext {
  /** `undefined` without a credential: over HTTP, for public lists. */
  readonly caller: Caller | undefined;
  /** Aborts when no one waits for the response. May be created on access. */
  readonly signal: AbortSignal;
  /** Calls the upstream even if a snapshot is fresh. */
  readonly noCache: boolean;
  /** Filled in during the request, except for its end. */
  readonly record: RequestRecord;
  /** Reads of one batch by resource name, shared by its messages, which run one after the other. */
  readonly batchReads?: Map<string, Promise<Load>> | undefined;
}

/**
 * A context that replaces another and ends with it. A class, because a getter in an object literal would be created per
 * request.
 */
export class InnerContext implements RequestContext {
  readonly caller: Caller | undefined;
  readonly noCache: boolean;
  readonly record: RequestRecord;
  readonly batchReads: Map<string, Promise<Load>> | undefined;
  readonly #outer: RequestContext;

  constructor(outer: RequestContext, { caller, batchReads }: Pick<RequestContext, 'caller' | 'batchReads'>) {
    this.caller = caller;
    this.noCache = outer.noCache;
    this.record = outer.record;
    this.batchReads = batchReads;
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    return this.#outer.signal;
  }
}

/** Reads a resource by name; without a promise if a stored snapshot can be served. */
export type ReadResource = (name: string, context: RequestContext) => Load | Promise<Load>;

/** Reads from the catalogue and records the outcome. */
export function createReadResource(catalogue: Pick<Catalogue, 'read'>, now: () => number): ReadResource {
  function begin(name: string, context: RequestContext): Load | Promise<Load> {
    const begun = performance.now();
    const { caller } = context;
    const read = () => {
      if (caller === undefined) throw new GatewayError('credential_missing');
      return catalogue.read(name, caller, context);
    };
    // A synchronous error also reaches the other messages of a batch.
    return attempt(context.batchReads === undefined ? read : async () => read(), (error) => {
      context.record.upstreamMs = performance.now() - begun;
      throw error;
    });
  }

  return (name, context) => {
    const { record, batchReads } = context;
    record.resource = name;
    const read = batchReads?.get(name) ?? begin(name, context);
    batchReads?.set(name, Promise.resolve(read));
    return andThen(read, (load) => {
      record.upstreamMs = load.upstreamMs;
      record.cache = cacheOutcome(load, now());
      record.staleFor = load.cached?.error;
      return load;
    });
  };
}

/** Continues with a value, synchronously if it is not a promise. */
export function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `work`, and passes what it throws or rejects with to `caught`. */
export function attempt<T>(work: () => T | Promise<T>, caught: (error: unknown) => T): T | Promise<T> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch(caught) : result;
  } catch (error) {
    return caught(error);
  }
}
