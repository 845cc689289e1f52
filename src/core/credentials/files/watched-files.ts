import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { withAbort } from '../../kernel/deadline.ts';

/** Why a file gives nothing that can be used, in words of ours: nothing of what it holds. */
export interface Unusable {
  readonly issue: string;
  /** Which of several files it is. */
  readonly key?: string | undefined;
}

/** What is told of files that others may write anew. */
export interface WatchOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Told when something else was taken from them, and, once, why they cannot be used: what was there before stays. Told again
   * once they can be, also where they hold what they held.
   */
  readonly onChange: (unusable?: Unusable) => void;
}

export interface FilesOptions<Key extends string, Value> extends WatchOptions {
  /** By the keys of their settings; `undefined`: not set. */
  readonly paths: Readonly<Partial<Record<Key, string | undefined>>>;
  /** Largest of them. */
  readonly maxBytes: number;
  /** What they hold together. */
  readonly make: (contents: Readonly<Partial<Record<Key, Buffer>>>) => Value | Unusable;
  readonly isSame: (one: Value, other: Value) => boolean;
}

/** What stands in files that others may write anew. */
export interface WatchedFiles<Value> {
  /** What was taken from them last. */
  readonly held: Value;
  /** Looks at them, once in a second at most, and takes what they hold now. Never rejects. */
  check(): Promise<void>;
  /** What stands there now. Rejects with the signal's reason once it aborts. */
  current(signal: AbortSignal): Promise<Value>;
}

/** The files are looked at no more often. */
export const CHECK_MS = 1000;
/** How long each must have been left alone: one that is being written may be half there. */
export const QUIET_MS = 1000;

/** Which files they were, in which state. */
type Stamp = string;

/**
 * Reads files that belong together. They are read anew once one of them has changed, in place or by a rename of it or of a
 * folder or link on the way, as in secrets that Kubernetes mounts. While they cannot be used (one is away, empty, or being
 * written; or one of two that must fit is still the old one) what was there before stays.
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
  // A file that was changed just before may have been changed again since, which its times do not tell: they have a grain.
  let taken = Math.abs(now() - first.changedMs) < QUIET_MS ? undefined : first.stamp;
  let checkedAt = now();
  let checking: Promise<void> | undefined;
  let told: string | undefined;

  function tell(unusable: Unusable): void {
    const said = `${unusable.key} ${unusable.issue}`;
    if (said !== told) onChange(unusable);
    told = said;
  }

  function tellUsable(isOther: boolean): void {
    const wasTold = told !== undefined;
    told = undefined;
    if (isOther || wasTold) onChange();
  }

  async function look(): Promise<void> {
    const stamps: Stamp[] = [];
    let quietMs = Number.POSITIVE_INFINITY;
    for (const [key, path] of paths) {
      try {
        const found = await stateOf(path, now());
        stamps.push(found.stamp);
        quietMs = Math.min(quietMs, found.quietMs);
      } catch (error) {
        tell({ issue: whyUnread(error), key });
        return;
      }
    }
    if (stamps.join() === taken) {
      tellUsable(false);
      return;
    }
    if (quietMs < QUIET_MS) return;
    const read = readAll(paths, options);
    if ('issue' in read) {
      tell(read);
      return;
    }
    // Changed again, between one file and the next: what belongs together is there the next time.
    if (read.stamp !== stamps.join()) return;
    taken = read.stamp;
    const isOther = !isSame(held, read.value);
    if (isOther) held = read.value;
    tellUsable(isOther);
  }

  function check(): Promise<void> {
    if (checking === undefined && Math.abs(now() - checkedAt) >= CHECK_MS) {
      checkedAt = now();
      checking = look().finally(() => {
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

/** At once: they are small, and read when the process starts and when they have changed. `changedMs`: the last of them. */
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

/** A pipe is not waited for. */
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

/** Which file it is, in which state, and how long it has been that at `time`. Rejects with Node's own error. */
export async function stateOf(
  path: string,
  time: number,
): Promise<{ readonly stamp: Stamp; readonly quietMs: number }> {
  const found = await stat(path, { bigint: true });
  // The time of its last change, that of a rename included, which nobody can set.
  return { stamp: stampOf(found), quietMs: Math.abs(time - Number(found.ctimeMs)) };
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): Stamp {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function whyUnread(error: unknown): string {
  return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
}
