import { setTimeout as pause } from 'node:timers/promises';
import { isDeadline } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { requestOf } from '../../kernel/trace.ts';
import type { Upstream } from '../upstream.ts';

export interface RetrySettings {
  /** Further attempts after the first one. */
  readonly attempts: number;
  /** Longest wait before the first retry; it doubles with each one. */
  readonly baseDelayMs: number;
  /** Longest wait before any retry. An upstream whose `Retry-After` asks for more is not asked again. */
  readonly maxDelayMs: number;
  /** Retries for a hundred first attempts, beside 3 in 10 s. */
  readonly budgetPercent: number;
}

export interface WithRetryOptions extends RetrySettings {
  readonly events: Events;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** From 0 up to 1. @default Math.random */
  readonly random?: () => number;
  /** Rejects once `signal` aborts. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Asks again where a connection did not open or was lost, or the upstream said 502, 503 or 504: after a random wait
 * ("full jitter", so that those who failed together do not return together), or the one that `Retry-After` asks for.
 * The first retry of a lost connection comes at once, since the commonest cause is a kept connection that the upstream
 * closed just then. A POST is asked again only where settings say that asking twice does no harm: one that was lost may
 * have arrived.
 */
export function withRetry(
  upstream: Upstream,
  {
    attempts,
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

  /** How long to wait before another attempt; `undefined` where there is none. */
  function delayAfter(error: unknown, retries: number): number | undefined {
    if (!(error instanceof GatewayError) || error.retryable === undefined || retries >= attempts) return undefined;
    if (error.retryable === 'reset' && retries === 0) return 0;
    const jitterMs = random() * Math.min(baseDelayMs * 2 ** retries, maxDelayMs);
    const delayMs = Math.max(jitterMs, (error.retryAfterSeconds ?? 0) * 1000);
    return delayMs > maxDelayMs ? undefined : delayMs;
  }

  return {
    ...upstream,
    async get(request, signal) {
      budget.attempt();
      for (let retries = 0; ; retries += 1) {
        try {
          const resends = (request.resends ?? 0) + retries;
          return await upstream.get({ ...request, resends }, signal);
        } catch (error) {
          const delayMs = request.post?.isRepeatable === false ? undefined : delayAfter(error, retries);
          if (delayMs === undefined || signal.aborted || !budget.take()) throw error;
          events.retried?.({ ...requestOf(request.caller), upstream: upstream.name, retries: retries + 1, delayMs });
          await sleep(delayMs, signal).catch(() => {
            // It had failed before its deadline passed: that is what counts.
            throw isDeadline(signal.reason) ? error : signal.reason;
          });
        }
      }
    },
  };
}

/**
 * How often one upstream may be asked again. Within any 10 s up to a retry, retries are never more than `percent` of
 * the first attempts, and 3 beyond: an upstream that fails is not stormed, and one that is seldom asked still gets
 * its second chance.
 */
interface RetryBudget {
  /** Tells of a first attempt. */
  attempt(): void;
  /** Takes one retry out of the budget; `false` where there is none left. */
  take(): boolean;
}

const ALLOWANCE = 3;
const WINDOW_SECONDS = 10;

interface Second {
  readonly second: number;
  attempts: number;
  retries: number;
}

function createRetryBudget(percent: number, now: () => number): RetryBudget {
  /** Those of the window, oldest first. */
  const seconds: Second[] = [];

  function current(): Second {
    const second = Math.floor(now() / 1000);
    while ((seconds[0]?.second ?? second) < second - WINDOW_SECONDS) seconds.shift();
    const last = seconds.at(-1);
    if (last?.second === second) return last;
    const begun = { second, attempts: 0, retries: 0 };
    seconds.push(begun);
    return begun;
  }

  return {
    attempt() {
      current().attempts += 1;
    },
    take() {
      const latest = current();
      // The oldest second is in the window in part: its retries count, its attempts do not.
      const whole = seconds.filter(({ second }) => second > latest.second - WINDOW_SECONDS);
      const allowed = ALLOWANCE + (sum(whole, 'attempts') * percent) / 100;
      if (sum(seconds, 'retries') + 1 > allowed) return false;
      latest.retries += 1;
      return true;
    },
  };
}

function sum(seconds: readonly Second[], key: 'attempts' | 'retries'): number {
  return seconds.reduce((total, second) => total + second[key], 0);
}
