import type { KeyOf, Verdict, Verify } from '../../core/credentials/authenticate.ts';
import { keyOfAll } from '../../core/credentials/other-credential.ts';
import { type Caller, requestOf } from '../../core/kernel/caller.ts';
import { GatewayError, isOfCredential } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Limits } from '../../core/kernel/limits.ts';
import { createMemorySemaphore, type MemorySemaphore } from '../../core/kernel/memory-semaphore.ts';
import type { WatchRequest } from '../../core/reads/catalogue/catalogue.ts';

/** Part of an interval that is random, so that polls do not coincide. */
const JITTER = 0.1;

interface PollsOptions {
  readonly bounds: Limits['subscriptions'];
  /** Verifies a token that was accepted earlier. @default verification is off */
  readonly verify: () => Verify | undefined;
  readonly keyOf: KeyOf;
  readonly events: Events;
  readonly now: () => number;
}

export interface Watcher {
  changed(resource: string, etag: string): void;
  /** Ends the subscription without an error. */
  end(): void;
  reject(error: GatewayError): void;
}

export type Polls = ReturnType<typeof createPolls>;

/** Polls of lists: one for each resource and credential, shared by its watchers. */
export function createPolls(options: PollsOptions) {
  const polls = new Map<string, ReturnType<typeof startPoll>>();
  const places = new Map<string, MemorySemaphore>();
  const bounds = { maxBytes: Number.POSITIVE_INFINITY, maxAtOnce: options.bounds.maxPolls };

  return {
    join(resource: string, request: WatchRequest, watcher: Watcher) {
      const inTurn = places.get(resource) ?? createMemorySemaphore(bounds);
      places.set(resource, inTurn);
      // Not by cache scope alone: its callers may have different rights, and each token ends by itself.
      const key = `${keyOfAll(request.caller, options.keyOf)} ${resource} ${identityOf(request.caller)}`;
      const poll = polls.get(key) ?? startPoll(resource, request, inTurn, options);
      polls.set(key, poll);
      poll.watchers.add(watcher);
      return {
        /** Resolves when the list was read for the first time, or could not be: later changes are seen. */
        ready: poll.ready,
        leave() {
          if (!poll.watchers.delete(watcher) || poll.watchers.size > 0) return;
          polls.delete(key);
          poll.stop();
        },
      };
    },
  };
}

/** What a verdict decides about reads: the cache scope, the subject and the scopes. */
function identityOf({ cacheScope, verified }: Pick<Verdict, 'cacheScope'> & Pick<Caller, 'verified'>): string {
  return JSON.stringify([
    cacheScope,
    verified?.subjectKey,
    [...(verified?.scopes ?? [])].sort(),
    [...(verified?.claims ?? [])],
  ]);
}

/** Reads a list whenever it may have changed, like any other read: within deadlines, breaker and bulkhead. Only its entity tag is kept. */
function startPoll(resource: string, request: WatchRequest, inTurn: MemorySemaphore, options: PollsOptions) {
  const { bounds, verify, events, now } = options;
  const { catalogue } = request;
  // The trace of the subscription's request is over.
  const caller: Caller = { ...request.caller, span: undefined, trace: undefined };
  const controller = new AbortController();
  const { signal } = controller;
  const watchers = new Set<Watcher>();
  let etag: string | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  async function readFresh() {
    const load = await catalogue.read(resource, caller, { signal });
    const { error, freshUntil = Number.POSITIVE_INFINITY } = load.cached ?? {};
    if (error !== undefined) throw error;
    // A stale list is being refreshed now, and the second read joins that load.
    return freshUntil > now() ? load : catalogue.read(resource, caller, { signal, noCache: true });
  }

  /** Returns whether the token still has the identity under which its lists are stored. */
  async function isSameCaller(): Promise<boolean> {
    const verdict = await verify()?.(caller.credential, caller.credentialKey);
    return verdict === undefined || identityOf(verdict) === identityOf(caller);
  }

  async function poll(): Promise<number> {
    try {
      if (!(await isSameCaller())) {
        // Its client subscribes again, as the caller that it is now.
        for (const watcher of watchers) watcher.end();
        return bounds.maxPollMs;
      }
      const { snapshot, cached } = await readFresh();
      // Where the first read has failed, what the client has seen is not known.
      const isChanged = snapshot.etag !== etag && (etag !== undefined || failures > 0);
      etag = snapshot.etag;
      failures = 0;
      if (isChanged) for (const watcher of watchers) watcher.changed(resource, snapshot.etag);
      return cached === undefined ? bounds.pollMs : Math.max(cached.freshUntil - now(), bounds.minPollMs);
    } catch (error) {
      return failed(error);
    }
  }

  function failed(error: unknown): number {
    failures += 1;
    const waitMs = Math.min(bounds.pollMs * 2 ** failures, bounds.maxPollMs);
    if (signal.aborted) return waitMs;
    if (!(error instanceof GatewayError)) {
      events.refreshFailed?.({ ...requestOf(caller), resource, error });
      return waitMs;
    }
    if (isOfCredential(error)) for (const watcher of watchers) watcher.reject(error);
    return Math.max(waitMs, (error.retryAfterSeconds ?? 0) * 1000);
  }

  function schedule(waitMs: number): void {
    if (signal.aborted) return;
    const ms = Math.min(waitMs, bounds.maxMs) * (1 + Math.random() * JITTER);
    timer = setTimeout(() => void inTurn(0, async () => signal.aborted || schedule(await poll())), ms);
  }

  return {
    watchers,
    ready: poll().then(schedule),
    stop() {
      clearTimeout(timer);
      controller.abort();
    },
  };
}
