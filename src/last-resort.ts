import type { Logger } from './observability/logger.ts';

/** Has whatever nobody caught end the process, with a line in the log. */
export function dieOfUncaught(logger: Logger): void {
  const die = (error: unknown) => {
    logger.fatal(
      { error: error instanceof Error ? { name: error.name, stack: frames(error) } : {} },
      'unhandled error',
    );
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

/** Where an error came from, without its message, which may hold text from outside. */
function frames(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}
