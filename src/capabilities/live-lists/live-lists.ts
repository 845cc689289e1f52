import { z } from 'zod';
import type { Verify } from '../../core/credentials/authenticate.ts';
import type { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Limits } from '../../core/kernel/limits.ts';
import { createCallerQuota } from '../../core/kernel/quotas.ts';
import type { ChangedList, Watch, WatchRequest } from '../../core/reads/catalogue/catalogue.ts';
import { defineCapability } from '../capability.ts';
import { createPolls, type Polls } from './list-polls.ts';

const subscriptionSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether MCP clients can subscribe to changes of their lists. Subscribed lists are read again when they are no longer fresh.',
    ),
});

/** Reports changes of a caller's own lists, found by polling while there are subscribers (docs/decisions/0068). */
export const liveLists = defineCapability({
  settings: {
    key: 'subscriptions',
    schema: subscriptionSettings.prefault({}).describe('MCP subscriptions to changes of lists.'),
  },
  // Which function verifies is not known before a core is built, or at all.
  dependsOn: ({ verification }) => verification,
  purposes: ['serve', 'stdio'],
  open({ enabled }, { config, limits: { subscriptions: bounds }, keyOf, events, now }) {
    if (!enabled) return undefined;
    let verify: Verify | undefined;
    let { maxConnections } = config.http;
    const polls = createPolls({
      ...{ bounds, keyOf, events, now },
      verify: () => verify,
    });
    return {
      watch: createWatch({ bounds, polls, maxConnections: () => maxConnections, events, now }),
      wrapVerify(wrapped) {
        verify = wrapped;
        return wrapped;
      },
      listeners: [
        {
          connectionsChanged(changed) {
            if (changed.listener === 'http') ({ maxConnections } = changed);
          },
        },
      ],
    };
  },
});

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Part of the time limit that is random, so that clients do not all return at once. */
const JITTER = 0.1;

interface WatchOptions {
  readonly bounds: Limits['subscriptions'];
  readonly polls: Polls;
  readonly maxConnections: () => number;
  readonly events: Events;
  readonly now: () => number;
}

/** Watches lists by polls, for a bounded number of subscribers and a bounded time. */
export function createWatch({ bounds, polls, maxConnections, events, now }: WatchOptions): Watch {
  const places = createCallerQuota({
    // A connection for each subscription: half are left for requests.
    max: () => Math.min(bounds.maxSubscriptions, Math.ceil(maxConnections() / 2)),
    maxPerCaller: bounds.maxPerCaller,
    bounds: ['maxSubscriptions', 'maxPerCaller'],
    taken: ['subscriptions', 'open'],
  });
  const emitChange = () => events.subscriptionsChanged?.({ open: places.total });

  function lifeMsOf({ caller: { expiresAt = Number.POSITIVE_INFINITY }, isLocal }: WatchRequest): number {
    const lifeMs = bounds.maxMs * (1 - Math.random() * JITTER);
    return Math.max(0, Math.min(isLocal ? Number.POSITIVE_INFINITY : lifeMs, expiresAt - now()));
  }

  return async (request) => {
    const { resources, caller, until } = request;
    places.enter(caller);
    emitChange();
    /** Entity tags by resource. */
    const changed = new Map<string, string>();
    let memberships: ReturnType<Polls['join']>[] = [];
    let isOver = false;
    let rejection: GatewayError | undefined;
    let wake = () => {};

    function end(): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      for (const signal of until) signal.removeEventListener('abort', end);
      for (const { leave } of memberships) leave();
      places.leave(caller);
      emitChange();
      wake();
    }

    async function* changes(): AsyncGenerator<ChangedList, void> {
      try {
        while (!isOver) {
          const [first] = changed;
          if (first === undefined) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            continue;
          }
          // One that changes again before its subscriber has taken this is reported once more, and not more often.
          const [name, etag] = first;
          changed.delete(name);
          yield { name, etag };
        }
        if (rejection !== undefined) throw rejection;
      } finally {
        end();
      }
    }

    const lifeMs = lifeMsOf(request);
    const timer = Number.isFinite(lifeMs) ? setTimeout(end, Math.min(lifeMs, MAX_TIMER_MS)) : undefined;
    for (const signal of until) signal.addEventListener('abort', end, { once: true });
    const watcher = {
      changed(resource: string, etag: string) {
        changed.set(resource, etag);
        wake();
      },
      end,
      reject(error: GatewayError) {
        rejection = error;
        end();
      },
    };
    if (until.some(({ aborted }) => aborted)) end();
    else memberships = resources.map((resource) => polls.join(resource, request, watcher));
    await Promise.all(memberships.map(({ ready }) => ready));
    if (rejection !== undefined) throw rejection;
    return changes();
  };
}
