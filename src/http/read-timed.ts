import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Caller } from '../kernel/caller.ts';
import type { Load } from '../snapshots/load.ts';
import { cacheWord } from './cache-headers.ts';
import type { Exchange } from './exchange.ts';

export interface ReadTimedOptions {
  readonly catalogue: Catalogue;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** One read, as the caller of an exchange asked for it. */
export interface ReadRequest {
  /** Name of the resource. */
  readonly name: string;
  readonly caller: Caller;
  /** Whether the caller wants the upstream to be asked. */
  readonly noCache: boolean;
}

/** Reads as the catalogue does, until the caller is gone; the access log hears of what it took. */
export function createReadTimed({ catalogue, now }: ReadTimedOptions) {
  return async function readTimed(exchange: Exchange, { name, caller, noCache }: ReadRequest): Promise<Load> {
    const controller = new AbortController();
    const begun = performance.now();
    exchange.onGone = () => {
      exchange.upstreamMs = performance.now() - begun;
      controller.abort();
    };
    try {
      const load = await catalogue.read(name, caller, controller.signal, { noCache });
      exchange.upstreamMs = load.upstreamMs;
      exchange.cache = cacheWord(load, now());
      return load;
    } catch (error) {
      exchange.upstreamMs = performance.now() - begun;
      throw error;
    } finally {
      exchange.onGone = undefined;
    }
  };
}
