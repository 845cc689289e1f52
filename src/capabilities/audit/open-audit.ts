import { ConfigError } from '../../core/config/mistakes/config-error.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { LogDestination } from '../../core/log/destination.ts';
import { type LogFile, openLogFile } from '../../core/log/log-file.ts';
import { createLogger, type Logger } from '../../core/log/logger.ts';
import { auditEvents } from './audit-events.ts';

/** The account of who reads what. */
export interface Audit {
  readonly events: Events;
  /** Lines that were dropped so far; `undefined` where it has no file, and they are lines of the log. */
  readonly droppedLines: (() => number) | undefined;
  /** Opens its file anew; `false` where it has none, or has closed it. The log tells whether that could be done. */
  reopen(): boolean;
  /** Writes what is held. Its descriptor may be somebody else's from then on. */
  close(): Promise<void>;
}

export interface AuditOptions {
  /** Told what becomes of the file. */
  readonly logger: Logger;
  /** Where lines go where there is no file. */
  readonly destination: LogDestination;
}

/** Opens the audit that settings ask for, if they do. Throws `ConfigError` where its file cannot be used. */
export function openAudit(
  { audit: { enabled, file }, log: { format } }: Config,
  { logger, destination }: AuditOptions,
): Audit | undefined {
  if (!enabled) return undefined;
  const log = file === undefined ? undefined : openFile(file, logger);
  // Whatever the level of the log is.
  const lines =
    log === undefined
      ? createLogger({ level: 'info', format, destination })
      : createLogger({ level: 'info', destination: log.destination });
  let open = log;
  return {
    events: auditEvents(lines),
    droppedLines: log && (() => log.destination.droppedLines ?? 0),
    reopen() {
      if (open === undefined) return false;
      try {
        open.reopen();
        logger.info('audit file opened anew');
      } catch (error) {
        logger.warn({ error: (error as NodeJS.ErrnoException).code }, 'audit file not opened anew');
      }
      return true;
    },
    async close() {
      const closing = open;
      open = undefined;
      await closing?.close();
    },
  };
}

function openFile(path: string, logger: Logger): LogFile {
  try {
    return openLogFile(path, { onFailure: (error) => logger.warn({ error }, 'audit file cannot be written') });
  } catch (error) {
    const message = `cannot be written (${(error as NodeJS.ErrnoException).code})`;
    throw new ConfigError([{ path: ['audit', 'file'], message }]);
  }
}
