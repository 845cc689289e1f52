import type { RequestRef } from '../../core/kernel/caller.ts';
import type { Logger } from '../../core/log/logger.ts';

/** A temporary change of what is logged. What it omits is as in settings. */
export interface VerbosityChange {
  /** Least severe level that is written. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | undefined;
  /** Ids of requests whose lines are written at any level. */
  readonly requestIds?: readonly string[] | undefined;
  /** Ids of traces, 32 hexadecimal digits each, likewise. */
  readonly traceIds?: readonly string[] | undefined;
  readonly forMs: number;
}

/** What is logged now. */
export interface VerbosityState {
  readonly level: string;
  readonly requestIds: readonly string[];
  readonly traceIds: readonly string[];
  /** Time until settings apply again; `undefined` where they do. */
  readonly remainingMs?: number | undefined;
}

export interface Verbosity {
  /** Returns the logger for a request whose lines are written at any level. */
  loggerFor(request: Partial<RequestRef>): Logger | undefined;
  state(): VerbosityState;
  /** Replaces the last change. One line of the log reports it, whatever the level. */
  change(change: VerbosityChange): void;
  /** Sets the level to restore. The gateway sets that of the logger, unless it was changed here. */
  setDefault(level: string): void;
  stop(): void;
}

/** A logger whose level can be changed, as pino's can. */
export interface AdjustableLogger extends Logger {
  level: string;
  child: NonNullable<Logger['child']>;
}

/** Changes the level of a logger for a limited time, so that no one must remember to reset it. */
export function createVerbosity(logger: AdjustableLogger, now = () => performance.now()): Verbosity {
  let settingsLevel = logger.level;
  /** Writes to the same place at any level of `logger`. */
  const detailed = logger.child({}, { level: 'debug' });
  let current: Partial<VerbosityChange> = {};
  let timer: NodeJS.Timeout | undefined;
  let until: number | undefined;

  function apply(change: Partial<VerbosityChange>): void {
    clearTimeout(timer);
    until = undefined;
    current = change;
    logger.level = change.level ?? settingsLevel;
  }

  function state(): VerbosityState {
    const { requestIds = [], traceIds = [] } = current;
    const remainingMs = until === undefined ? undefined : Math.max(0, Math.round(until - now()));
    return { level: logger.level, requestIds, traceIds, remainingMs };
  }

  return {
    loggerFor({ requestId = '', traceId = '' }) {
      const isNamed = current.requestIds?.includes(requestId) || current.traceIds?.includes(traceId);
      return isNamed ? detailed : undefined;
    },
    state,
    change({ forMs, ...change }) {
      apply(change);
      const { level: logLevel, requestIds, traceIds } = state();
      if (logLevel !== settingsLevel || requestIds.length + traceIds.length > 0) {
        until = now() + forMs;
        timer = setTimeout(() => {
          apply({});
          detailed.warn({ logLevel: settingsLevel }, 'log level of the settings restored');
        }, forMs).unref();
      }
      detailed.warn({ logLevel, requestIds, traceIds, remainingMs: state().remainingMs }, 'log level changed');
    },
    setDefault(level) {
      settingsLevel = level;
    },
    stop: () => clearTimeout(timer),
  };
}
