import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
import { withAbort } from '../../kernel/deadline.ts';

/** Thrown for a file that cannot be used. Holds none of its content. */
export class UnusableFile extends Error {
  /** Key of its setting, below the block that is opened. */
  readonly key: string;
  readonly issue: string;

  constructor(key: string, issue: string) {
    super(`${key} ${issue}`);
    this.key = key;
    this.issue = issue;
  }
}

export interface WatchOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called after each adopted change, with an issue once files are unusable, and once they are usable again. `group`: the files
   * that belong together.
   */
  readonly onChange: (unusable: UnusableFile | undefined, group: object) => void;
}

interface FilesOptions<Key extends string, Value> extends WatchOptions {
  readonly paths: Readonly<Partial<Record<Key, string | undefined>>>;
  readonly maxBytes: number;
  /** Throws {@link UnusableFile}. */
  readonly make: (contents: Readonly<Partial<Record<Key, Buffer>>>) => Value;
}

/** Files that are reloaded when they change. */
export interface WatchedFiles<Value> {
  readonly held: Value;
  /** Reloads them if they have changed, at most once a second. Never rejects. */
  check(): Promise<void>;
  /** Returns their content after a check. Rejects with the signal's reason when it aborts. */
  current(signal: AbortSignal): Promise<Value>;
}

export const CHECK_MS = 1000;
/** A file that is being written may be incomplete. */
export const QUIET_MS = 1000;

/**
 * Opens files that belong together. They are reloaded when one has changed, also by a rename of a folder or link in its path
 * (Kubernetes). While they cannot be used (missing, empty, not matching yet), the former content stays. Throws
 * {@link UnusableFile} where they cannot be used from the start.
 */
export function openFiles<Key extends string, Value extends object>(
  options: FilesOptions<Key, Value>,
): WatchedFiles<Value> {
  const { now, onChange } = options;
  const paths = (Object.entries(options.paths) as [Key, string | undefined][]).flatMap(([key, path]) =>
    path === undefined ? [] : [[key, path] as const],
  );
  let current = readAll(paths, options);
  // The first check reads them again: they may have changed meanwhile, without a new timestamp.
  let taken: string | undefined;
  let checkedAt = now();
  let checking: Promise<void> | undefined;
  let reported: string | undefined;

  function report(error: unknown): void {
    if (!(error instanceof UnusableFile)) throw error;
    if (error.message !== reported) onChange(error, options.paths);
    reported = error.message;
  }

  function adopt(read: Read<Value>): void {
    const isOther = !read.bytes.equals(current.bytes);
    if (isOther) current = read;
    if (isOther || reported !== undefined) onChange(undefined, options.paths);
    reported = undefined;
  }

  async function reload(): Promise<void> {
    const found = await stateOfAll(paths, now());
    if (found.stamp === taken) return adopt(current);
    if (found.quietMs < QUIET_MS) return;
    const read = readAll(paths, options);
    taken = found.stamp;
    adopt(read);
  }

  function check(): Promise<void> {
    if (checking === undefined && Math.abs(now() - checkedAt) >= CHECK_MS) {
      checkedAt = now();
      checking = reload()
        .catch(report)
        .finally(() => {
          checking = undefined;
        });
    }
    return checking ?? Promise.resolve();
  }

  return {
    get held() {
      return current.value;
    },
    check,
    async current(signal) {
      const pending = check();
      if (checking !== undefined) await withAbort(signal, () => pending);
      return current.value;
    },
  };
}

interface Read<Value> {
  readonly value: Value;
  readonly bytes: Buffer;
}

type Paths<Key> = readonly (readonly [Key, string])[];

/** Reads small files synchronously, at the start and after changes. */
function readAll<Key extends string, Value extends object>(
  paths: Paths<Key>,
  { maxBytes, make }: FilesOptions<Key, Value>,
): Read<Value> {
  const contents: Partial<Record<Key, Buffer>> = {};
  for (const [key, path] of paths) contents[key] = readFile(key, path, maxBytes);
  return { value: make(contents), bytes: Buffer.concat(Object.values<Buffer>(contents as Record<Key, Buffer>)) };
}

function readFile(key: string, path: string, maxBytes: number): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new UnusableFile(key, 'is no file');
    if (found.size > maxBytes) throw new UnusableFile(key, `is larger than ${maxBytes} bytes`);
    return readFileSync(descriptor);
  } catch (error) {
    throw unread(key, error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export interface FileState {
  readonly stamp: string;
  readonly quietMs: number;
}

async function stateOfAll(paths: Paths<string>, time: number): Promise<FileState> {
  const states: FileState[] = [];
  for (const [key, path] of paths) {
    states.push(
      await stateOf(path, time).catch((error) => {
        throw unread(key, error);
      }),
    );
  }
  return {
    stamp: states.map(({ stamp }) => stamp).join(),
    quietMs: Math.min(...states.map(({ quietMs }) => quietMs)),
  };
}

/** Returns the state of a file at `time`. Rejects with Node's own error. */
export async function stateOf(path: string, time: number): Promise<FileState> {
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = await stat(path, { bigint: true });
  // The change time includes renames, and cannot be set.
  return { stamp: [dev, ino, size, mtimeNs, ctimeNs].join(' '), quietMs: Math.abs(time - Number(ctimeMs)) };
}

function unread(key: string, error: unknown): UnusableFile {
  if (error instanceof UnusableFile) return error;
  return new UnusableFile(key, `cannot be read: ${getSystemErrorMessage((error as NodeJS.ErrnoException).errno ?? 0)}`);
}
