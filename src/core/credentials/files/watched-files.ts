import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
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
  /** Called after each adopted change, with an issue once files are unusable, and once they are usable again. */
  readonly onChange: (unusable?: Unusable) => void;
}

interface FilesOptions<Key extends string, Value> extends WatchOptions {
  readonly paths: Readonly<Partial<Record<Key, string | undefined>>>;
  readonly maxBytes: number;
  readonly make: (contents: Readonly<Partial<Record<Key, Buffer>>>) => Value | Unusable;
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
 * (Kubernetes). While they cannot be used (missing, empty, not matching yet), the former content stays.
 */
export function openFiles<Key extends string, Value extends object>(
  options: FilesOptions<Key, Value>,
): WatchedFiles<Value> | Unusable {
  const { now, onChange } = options;
  const paths = (Object.entries(options.paths) as [Key, string | undefined][]).flatMap(([key, path]) =>
    path === undefined ? [] : [[key, path] as const],
  );
  const first = readAll(paths, options);
  if ('issue' in first) return first;
  let current = first;
  // The first check reads them again: they may have changed meanwhile, without a new timestamp.
  let taken: string | undefined;
  let checkedAt = now();
  let checking: Promise<void> | undefined;
  let reported: string | undefined;

  function reportIssue(unusable: Unusable): void {
    const issue = `${unusable.key} ${unusable.issue}`;
    if (issue !== reported) onChange(unusable);
    reported = issue;
  }

  function adopt(read: Read<Value>): void {
    const isOther = !read.bytes.equals(current.bytes);
    if (isOther) current = read;
    if (isOther || reported !== undefined) onChange();
    reported = undefined;
  }

  async function reload(): Promise<void> {
    const found = await stateOfAll(paths, now());
    if ('issue' in found) return reportIssue(found);
    if (found.stamp === taken) return adopt(current);
    if (found.quietMs < QUIET_MS) return;
    const read = readAll(paths, options);
    if ('issue' in read) return reportIssue(read);
    taken = found.stamp;
    adopt(read);
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
): Read<Value> | Unusable {
  const contents: Partial<Record<Key, Buffer>> = {};
  const all: Buffer[] = [];
  for (const [key, path] of paths) {
    const read = readFile(path, maxBytes);
    if ('issue' in read) return { ...read, key };
    contents[key] = read;
    all.push(read);
  }
  const value = make(contents);
  return 'issue' in value ? value : { value, bytes: Buffer.concat(all) };
}

function readFile(path: string, maxBytes: number): Buffer | Unusable {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { issue: 'is no file' };
    if (found.size > maxBytes) return { issue: `is larger than ${maxBytes} bytes` };
    return readFileSync(descriptor);
  } catch (error) {
    return { issue: whyUnread(error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export interface FileState {
  readonly stamp: string;
  readonly quietMs: number;
}

async function stateOfAll<Key extends string>(paths: Paths<Key>, time: number): Promise<FileState | Unusable> {
  const states: FileState[] = [];
  for (const [key, path] of paths) {
    try {
      states.push(await stateOf(path, time));
    } catch (error) {
      return { issue: whyUnread(error), key };
    }
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

function whyUnread(error: unknown): string {
  return `cannot be read: ${getSystemErrorMessage((error as NodeJS.ErrnoException).errno ?? 0)}`;
}
