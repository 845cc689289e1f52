import { type ConfigIssue, dottedPath, issueLine } from '../core/config/mistakes/config-error.ts';
import type { Logger } from '../core/log/logger.ts';

/** A line for each warning of a settings file, for a person. */
export function warningLines(warnings: readonly ConfigIssue[], file: string): string {
  return warnings.map((warning) => `${issueLine(warning, file, 'warning')}\n`).join('');
}

/** The same for the log of a process that serves with these settings. */
export function logWarnings(logger: Logger, warnings: readonly ConfigIssue[]): void {
  for (const { path, line, message } of warnings) {
    logger.warn({ setting: dottedPath(path), line, warning: message }, 'settings doubtful');
  }
}
