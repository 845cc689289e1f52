import { createLogger, type Logger } from '../../src/observability/logger.ts';
import { until } from '../http/until.ts';

/** A log that a test reads. */
export interface CapturedLog {
  readonly logger: Logger;
  /** As it was written so far. */
  text(): string;
  lines(): Record<string, unknown>[];
  /** The access lines so far, once there are `count` of them. */
  access(count: number): Promise<Record<string, unknown>[]>;
}

export function captureLog(): CapturedLog {
  let text = '';
  const logger = createLogger({
    level: 'debug',
    destination: {
      write(line) {
        text += line;
      },
      flushSync() {},
    },
  });
  const lines = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  const access = () => lines().filter((line) => line['msg'] === 'request');
  return {
    logger,
    text: () => text,
    lines,
    async access(count) {
      await until(() => access().length >= count);
      return access();
    },
  };
}
