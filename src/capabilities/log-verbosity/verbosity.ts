import type { RequestRef } from '../../core/kernel/request-record.ts';
import type { Logger } from '../../core/log/logger.ts';

/** How much the log is to say for a while. What is left out is as settings have it. */
export interface VerbosityChange {
  /** Least severe level that is written. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | undefined;
  /** Ids of requests all of whose lines are written, whatever the level. */
  readonly requestIds?: readonly string[] | undefined;
  /** The same by trace, 32 hexadecimal digits each. */
  readonly traceIds?: readonly string[] | undefined;
  /** How long that lasts. */
  readonly forMs: number;
}

/** How much the log says now. */
export interface VerbosityState {
  readonly level: string;
  readonly requestIds: readonly string[];
  readonly traceIds: readonly string[];
  /** Until it is as settings have it; `undefined` where it is already. */
  readonly remainingMs?: number | undefined;
}

/** How much the log says, and whose requests it tells in detail. */
export interface Verbosity {
  /** Where all other lines go. */
  readonly logger: Logger;
  /** Where lines of this request go, if all of them are to be written. */
  loggerFor(request: Partial<RequestRef>): Logger | undefined;
  readonly state: VerbosityState;
  /** Takes another level as that of settings. What was asked for for a while goes on until its end. */
  follow(level: string): void;
  /** Replaces what was asked for before. One line of the log says so, whatever its level. */
  change(change: VerbosityChange): void;
}

/** A logger whose level can be changed, as pino's can. */
interface Adjustable extends Logger {
  level: string;
  child(fields: Record<string, never>, options: { readonly level: string }): Adjustable;
}

/** Tried with a child of it: a program may have frozen its logger, or have one whose level is not to be set. */
export function isAdjustable(logger: Logger): logger is Adjustable {
  const { level } = logger;
  if (level === undefined) return false;
  try {
    const child = logger.child?.({}, { level });
    if (child !== undefined) child.level = level;
    return child?.level === level;
  } catch {
    return false;
  }
}

/**
 * Has a logger say more or less for a while: nobody has to remember to set it back before the disk is full. The logger that
 * is given stays as it is: it may be that of a program around the gateway.
 */
export function createVerbosity(given: Adjustable, now = () => performance.now()): Verbosity {
  let usual = given.level;
  const logger = given.child({}, { level: usual });
  /** Writes to the same place at any level of the logger. */
  const detailed = given.child({}, { level: 'debug' });
  let requestIds: ReadonlySet<string> = new Set();
  let traceIds: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | undefined;
  let until: number | undefined;
  /** The level that was asked for for a while. */
  let asked: string | undefined;

  function set({ level, ...more }: Partial<VerbosityChange>): void {
    clearTimeout(timer);
    asked = level;
    logger.level = level ?? usual;
    requestIds = new Set(more.requestIds);
    traceIds = new Set(more.traceIds);
    until = undefined;
  }

  function stateNow(): VerbosityState {
    return {
      level: logger.level,
      requestIds: [...requestIds],
      traceIds: [...traceIds],
      remainingMs: until === undefined ? undefined : Math.max(0, Math.round(until - now())),
    };
  }

  return {
    logger,
    loggerFor({ requestId, traceId }) {
      if (requestIds.size === 0 && traceIds.size === 0) return undefined;
      const isNamed = requestIds.has(requestId ?? '') || traceIds.has(traceId ?? '');
      return isNamed ? detailed : undefined;
    },
    get state() {
      return stateNow();
    },
    follow(level) {
      if (until === undefined || asked === undefined) logger.level = level;
      usual = level;
    },
    change({ forMs, ...change }) {
      set(change);
      const isUsual = logger.level === usual && requestIds.size + traceIds.size === 0;
      if (!isUsual) {
        until = now() + forMs;
        timer = setTimeout(() => {
          set({});
          detailed.warn({ logLevel: usual }, 'log as settings have it');
        }, forMs).unref();
      }
      const { level: logLevel, ...state } = stateNow();
      detailed.warn({ logLevel, ...state }, 'log changed');
    },
  };
}
