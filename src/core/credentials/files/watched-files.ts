import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { withAbort } from '../../kernel/deadline.ts';

/** Why a file cannot be used, without any of its content. */
export interface Unusable {
  readonly issue: string;
  /** The key of its setting. */
  readonly key?: string | undefined;
}

export interface WatchOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called after each change that was adopted; once with the issue of files that have become unusable, while the former content
   * stays; and once they are usable again, even without a change.
   */
  readonly onChange: (unusable?: Unusable) => void;
}

export interface FilesOptions<Key extends string, Value> extends WatchOptions {
  /** Paths by the keys of their settings; `undefined`: not set. */
  readonly paths: Readonly<Partial<Record<Key, string | undefined>>>;
  /** Largest size of each. */
  readonly maxBytes: number;
  /** Parses their contents together. */
  readonly make: (contents: Readonly<Partial<Record<Key, Buffer>>>) => Value | Unusable;
  readonly isSame: (one: Value, other: Value) => boolean;
}

/** Files that are reloaded when they change. */
export interface WatchedFiles<Value> {
  /** Their latest usable content. */
  readonly held: Value;
  /** Reloads them if they have changed, at most once a second. Never rejects. */
  check(): Promise<void>;
  /** Returns their content after a check. Rejects with the signal's reason when it aborts. */
  current(signal: AbortSignal): Promise<Value>;
}

/** Shortest time between two checks. */
export const CHECK_MS = 1000;
/** How long each file must have been unchanged: one that is being written may be incomplete. */
export const QUIET_MS = 1000;

/** Identifies a file and its state. */
type Stamp = string;

/**
 * Opens files that belong together. They are reloaded when one of them has changed, in place or by a rename of it or of a folder
 * or link in its path, as in secrets that Kubernetes mounts. While they cannot be used (one is missing, empty or being written, or
 * a key does not match its certificate yet) the former content stays.
 */
export function openFiles<Key extends string, Value extends object>(
  options: FilesOptions<Key, Value>,
): WatchedFiles<Value> | Unusable {
  const { now, onChange, isSame } = options;
  const all = Object.entries(options.paths) as [Key, string | undefined][];
  const paths = all.flatMap(([key, path]) => (path === undefined ? [] : [[key, path] as const]));
  const first = readAll(paths, options);
  if ('issue' in first) return first;
  let { value: held } = first;
  // A file that has just changed may change again without a new timestamp: timestamps are coarse.
  let taken = Math.abs(now() - first.changedMs) < QUIET_MS ? undefined : first.stamp;
  let checkedAt = now();
  let checking: Promise<void> | undefined;
  let reported: string | undefined;

  function reportIssue(unusable: Unusable): void {
    const issue = `${unusable.key} ${unusable.issue}`;
    if (issue !== reported) onChange(unusable);
    reported = issue;
  }

  function reportUsable(isOther: boolean): void {
    const wasReported = reported !== undefined;
    reported = undefined;
    if (isOther || wasReported) onChange();
  }

  async function reload(): Promise<void> {
    const stamps: Stamp[] = [];
    let quietMs = Number.POSITIVE_INFINITY;
    for (const [key, path] of paths) {
      try {
        const found = await stateOf(path, now());
        stamps.push(found.stamp);
        quietMs = Math.min(quietMs, found.quietMs);
      } catch (error) {
        reportIssue({ issue: whyUnread(error), key });
        return;
      }
    }
    if (stamps.join() === taken) {
      reportUsable(false);
      return;
    }
    if (quietMs < QUIET_MS) return;
    const read = readAll(paths, options);
    if ('issue' in read) {
      reportIssue(read);
      return;
    }
    // One of them changed again meanwhile: the next check reads them together.
    if (read.stamp !== stamps.join()) return;
    taken = read.stamp;
    const isOther = !isSame(held, read.value);
    if (isOther) held = read.value;
    reportUsable(isOther);
  }

  function check(): Promise<void> {
    if (checking === undefined && Math.abs(now() - checkedAt) >= CHECK_MS) {
      checkedAt = now();
      checking = reload().finally(() => {
        checking = undefined;
      });
    }
    return checking ?? Promise.resolve();
  }

  return {
    get held() {
      return held;
    },
    check,
    async current(signal) {
      const pending = check();
      if (checking !== undefined) await withAbort(signal, () => pending);
      return held;
    },
  };
}

/** Reads small files synchronously, at the start and after changes. `changedMs`: time of the latest change. */
function readAll<Key extends string, Value extends object>(
  paths: readonly (readonly [Key, string])[],
  { maxBytes, make }: FilesOptions<Key, Value>,
): { readonly value: Value; readonly stamp: Stamp; readonly changedMs: number } | Unusable {
  const contents: Partial<Record<Key, Buffer>> = {};
  const stamps: Stamp[] = [];
  let changedMs = Number.NEGATIVE_INFINITY;
  for (const [key, path] of paths) {
    const read = readFile(path, maxBytes);
    if ('issue' in read) return { ...read, key };
    contents[key] = read.bytes;
    stamps.push(read.stamp);
    changedMs = Math.max(changedMs, read.changedMs);
  }
  const value = make(contents);
  return 'issue' in value ? value : { value, stamp: stamps.join(), changedMs };
}

/** Does not wait for a pipe. */
function readFile(
  path: string,
  maxBytes: number,
): { readonly bytes: Buffer; readonly stamp: Stamp; readonly changedMs: number } | Unusable {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const before = fstatSync(descriptor, { bigint: true });
    if (!before.isFile()) return { issue: 'is no file' };
    if (before.size > maxBytes) return { issue: `is larger than ${maxBytes} bytes` };
    const bytes = Buffer.alloc(Number(before.size) + 1);
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    const stamp = stampOf(fstatSync(descriptor, { bigint: true }));
    if (stamp !== stampOf(before) || BigInt(length) !== before.size) return { issue: 'changed while it was read' };
    return { bytes: bytes.subarray(0, length), stamp, changedMs: Number(before.ctimeMs) };
  } catch (error) {
    return { issue: whyUnread(error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Identifies a file's state and how long it has been unchanged at `time`. Rejects with Node's own error. */
export async function stateOf(
  path: string,
  time: number,
): Promise<{ readonly stamp: Stamp; readonly quietMs: number }> {
  const found = await stat(path, { bigint: true });
  // The change time includes renames, and cannot be set.
  return { stamp: stampOf(found), quietMs: Math.abs(time - Number(found.ctimeMs)) };
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): Stamp {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function whyUnread(error: unknown): string {
  return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
}
