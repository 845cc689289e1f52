import { performance } from 'node:perf_hooks';
import type { Caller, RequestRecord } from '../../kernel/caller.ts';
import type { Load, ReadOptions } from '../snapshots/load.ts';
import { cacheOutcome } from '../snapshots/with-cache.ts';
import type { Catalogue } from './catalogue.ts';

interface RecordedOptions extends ReadOptions {
  readonly record: RequestRecord;
}

export type RecordedRead = (name: string, caller: Caller, options: RecordedOptions) => Promise<Load>;

/** Reads for a request, whose record gets the outcome. `now`: milliseconds since the epoch. */
export function createRecordedRead(catalogue: Pick<Catalogue, 'read'>, now: () => number): RecordedRead {
  return async (name, caller, options) => {
    const { record } = options;
    record.resource = name;
    record.readSince = performance.now();
    const load = await catalogue.read(name, caller, options);
    record.readSince = undefined;
    record.upstreamMs = load.upstreamMs;
    record.cache = cacheOutcome(load, now());
    record.staleFor = load.cached?.error;
    return load;
  };
}
