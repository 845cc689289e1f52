import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadedSettings, loadSettings } from '../composition.ts';
import { ConfigError, logWarnings } from '../core/config/config-error.ts';
import { CHECK_MS, type FileState, QUIET_MS, stateOf } from '../core/credentials/files/watched-files.ts';
import type { Logger } from '../core/log/logger.ts';
import type { Gateway } from '../gateway.ts';
import { describeBug } from './process-end.ts';

interface FollowOptions {
  readonly file: string;
  readonly gateway: Pick<Gateway, 'change' | 'refuse'>;
  readonly logger: Logger;
  /** Whether the file is checked for changes, and not only read on request. */
  readonly watch: boolean;
  readonly signal: AbortSignal;
}

/** Reloads the file when it changes, also by a rename in its path (Kubernetes). If it is wrong, nothing changes. Returns what reads it at once. */
export function followSettings({ file, gateway, logger, watch, signal }: FollowOptions): () => Promise<void> {
  let reading = Promise.resolve();
  let next: Promise<void> | undefined;

  async function read(): Promise<void> {
    let loaded: LoadedSettings | undefined;
    try {
      loaded = await loadSettings(file);
      if (signal.aborted) return;
      const { applied, needRestart } = gateway.change(loaded.settings);
      if (applied.length + needRestart.length === 0) logger.info({ file }, 'settings unchanged');
      else logWarnings(logger, loaded.warnings);
    } catch (error) {
      if (loaded === undefined) gateway.refuse(error);
      if (!(error instanceof ConfigError)) {
        logger.error({ file, ...describeBug(error) }, 'settings not taken: a bug');
        return;
      }
      const { message } = loaded?.placed(error) ?? error;
      logger.error({ file, issues: message.split('\n') }, 'settings refused');
    }
  }

  /** Reads once after a read under way, which may have begun before the last change. */
  function readInTurn(): Promise<void> {
    if (next === undefined) {
      next = reading.then(() => {
        next = undefined;
        return read();
      });
      reading = next;
    }
    return next;
  }

  async function look(before: string): Promise<string> {
    const found = await stateNow(file);
    if (found.stamp === before || found.quietMs < QUIET_MS) return before;
    await readInTurn();
    return found.stamp;
  }

  async function lookOn(): Promise<void> {
    // A change since this process began may be one since the file was read.
    const first = await stateNow(file);
    let stamp = Date.now() - first.quietMs < performance.timeOrigin ? first.stamp : '';
    while (!signal.aborted) {
      await sleep(CHECK_MS, undefined, { ref: false, signal }).catch(() => {});
      if (!signal.aborted) stamp = await look(stamp);
    }
  }

  if (watch) void lookOn();
  return readInTurn;
}

/** The state of the file now. That it is away is one, too. */
async function stateNow(file: string): Promise<FileState> {
  try {
    return await stateOf(file, Date.now());
  } catch (error) {
    return { stamp: String((error as NodeJS.ErrnoException).code), quietMs: Number.POSITIVE_INFINITY };
  }
}
