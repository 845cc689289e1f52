import { setTimeout as pause } from 'node:timers/promises';
import { requestOf } from '../../kernel/caller.ts';
import { isDeadline } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Upstream } from '../upstream.ts';

export interface RetrySettings {
  readonly attempts: number;
  /** Statuses of a temporary state (RFC 9110, section 15.6). */
  readonly statuses: readonly number[];
  /** Longest wait before the first retry; it doubles with each one. */
  readonly baseDelayMs: number;
  /** Longest wait before any retry. A longer `Retry-After` prevents the retry. */
  readonly maxDelayMs: number;
  /** Retries per hundred first attempts, beside 3 at once and 3 in 10 s. */
  readonly budgetPercent: number;
}

export interface WithRetryOptions extends RetrySettings {
  readonly events: Events;
  readonly now: () => number;
  /** From 0 up to 1. @default Math.random */
  readonly random?: () => number;
  /** Rejects once `signal` aborts. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Retries connections that did not open or were lost, and some statuses, after a random wait ("full jitter", so
 * that simultaneous failures are not retried simultaneously) or after `Retry-After`. The first retry of a lost connection is
 * immediate: most often the upstream had just closed a kept connection. A POST is retried only if settings say that it
 * changes nothing: a lost one may have arrived.
 */
export function withRetry(
  upstream: Upstream,
  {
    attempts,
    statuses,
    baseDelayMs,
    maxDelayMs,
    budgetPercent,
    events,
    now,
    random = Math.random,
    sleep = (ms, signal) => pause(ms, undefined, { signal }),
  }: WithRetryOptions,
): Upstream {
  const budget = createRetryBudget(budgetPercent, now);

  /** The wait before another attempt; `undefined` if there is none. */
  function delayAfter(error: unknown, retries: number): number | undefined {
    if (!(error instanceof GatewayError) || retries >= attempts) return undefined;
    if (error.retryable === undefined && !statuses.includes(error.upstreamStatus ?? 0)) return undefined;
    if (error.retryable === 'reset' && retries === 0) return 0;
    const jitterMs = random() * Math.min(baseDelayMs * 2 ** retries, maxDelayMs);
    const delayMs = Math.max(jitterMs, (error.retryAfterSeconds ?? 0) * 1000);
    return delayMs > maxDelayMs ? undefined : delayMs;
  }

  return {
    ...upstream,
    async get(request, signal) {
      budget.deposit();
      for (let retries = 0; ; retries += 1) {
        try {
          return await upstream.get(request, signal);
        } catch (error) {
          const delayMs = request.post?.isRepeatable === false ? undefined : delayAfter(error, retries);
          if (delayMs === undefined || signal.aborted || !budget.withdraw()) throw error;
          events.retried?.({ ...requestOf(request.caller), upstream: upstream.name, retries: retries + 1, delayMs });
          await sleep(delayMs, signal).catch(() => {
            // The failure preceded the deadline.
            throw isDeadline(signal.reason) ? error : signal.reason;
          });
        }
      }
    },
  };
}

/** Retries in a full bucket, which fills in `fillMs` without any request. */
const BUCKET = { size: 3, fillMs: 10_000 };

/** A token bucket of retries, so that a failing upstream is not flooded. */
function createRetryBudget(percent: number, now: () => number) {
  let tokens = BUCKET.size;
  let filledAt = now();

  function fill(by: number): void {
    const time = now();
    tokens = Math.min(tokens + by + ((time - filledAt) * BUCKET.size) / BUCKET.fillMs, BUCKET.size);
    filledAt = time;
  }

  return {
    deposit() {
      fill(percent / 100);
    },
    withdraw() {
      fill(0);
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
