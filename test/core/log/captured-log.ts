import type { Events } from '../../../src/core/kernel/events.ts';
import type { LogDestination } from '../../../src/core/log/destination.ts';
import { logEvents } from '../../../src/core/log/log.ts';
import { createLogger, type Logger, type LoggerOptions } from '../../../src/core/log/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { linesIn } from '../../support/process/json-lines.ts';

/** A log that a test reads. */
export interface CapturedLog {
  readonly logger: Logger;
  /** Where the logger writes. */
  readonly destination: LogDestination;
  /** The listener that writes it. */
  readonly events: Events;
  /** As it was written so far. */
  text(): string;
  lines(): Record<string, unknown>[];
  /** The access lines so far, once there are `count` of them. */
  access(count: number): Promise<Record<string, unknown>[]>;
  /** How often all had to be written at once. */
  flushes(): number;
}

export function captureLog(level: LoggerOptions['level'] = 'debug'): CapturedLog {
  let text = '';
  let flushes = 0;
  const destination: LogDestination = {
    write(line) {
      text += line;
    },
    flushSync() {
      flushes += 1;
    },
    droppedLines: () => 0,
  };
  const logger = createLogger({ level, destination });
  const lines = (): Record<string, unknown>[] => linesIn(text);
  const access = () => lines().filter((line) => line['msg'] === 'request');
  return {
    logger,
    destination,
    events: logEvents(logger),
    text: () => text,
    lines,
    access: (count) => eventually(() => (access().length >= count ? access() : undefined)),
    flushes: () => flushes,
  };
}
