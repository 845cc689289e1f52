import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { RequestRecord } from '../kernel/request-record.ts';
import type { Catalogue } from '../reads/catalogue/catalogue.ts';
import { cacheOutcome, type Load } from '../reads/snapshots/load.ts';

/** Who asks for something, and what is to be known of the request. */
export interface RequestContext {
  /** `undefined` where no credential came: over HTTP, for lists that are public. */
  readonly caller: Caller | undefined;
  /** Aborts when nobody waits for the response any more. May be made when it is looked at. */
  readonly signal: AbortSignal;
  /** The caller wants the upstream to be asked. */
  readonly noCache: boolean;
  /** Filled in on the way, but for how the request ended. */
  readonly record: RequestRecord;
  /** What was read for one batch so far, by name: its members share it, since each is worked on after the one before. */
  readonly batchReads?: Map<string, Promise<Load>> | undefined;
}

/** A context that takes the place of another, and ends with it. A class: a getter in a literal would be made for each request. */
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

/** Reads the resource of a name: at once where what is held may be served. */
export type ReadResource = (name: string, context: RequestContext) => Load | Promise<Load>;

/** Reads from the catalogue, and records what came of it. */
export function createReadResource(catalogue: Pick<Catalogue, 'read'>, now: () => number): ReadResource {
  function begin(name: string, context: RequestContext): Load | Promise<Load> {
    const begun = performance.now();
    const { caller } = context;
    const read = () => {
      if (caller === undefined) throw new GatewayError('credential_missing');
      return catalogue.read(name, caller, context);
    };
    // What is thrown at once reaches the other members of a batch, too.
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

/** Goes on with a value: at once where it is there, so that what is at hand is answered without a detour. */
export function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `work`, which may end at once or later. What it throws, then or later, goes to `caught`. */
export function attempt<T>(work: () => T | Promise<T>, caught: (error: unknown) => T): T | Promise<T> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch(caught) : result;
  } catch (error) {
    return caught(error);
  }
}
