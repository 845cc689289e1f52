import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Credential } from '../kernel/caller.ts';
import { withAbort } from '../kernel/deadline.ts';

export interface SecretFileOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told when another secret was taken, and, once, why the file cannot be used (`issue`): the secret before stays. */
  readonly onChange: (issue?: string) => void;
}

/** A secret in a file that others may write anew. */
export interface SecretFile {
  /** The secret as it stands there now. Rejects with the signal's reason once it aborts. */
  current(signal: AbortSignal): Promise<Credential>;
}

/** Why a file gives no secret, in words of ours: nothing of what it holds. */
export interface Unusable {
  readonly issue: string;
}

/** The file is looked at no more often, and only where its secret is wanted. */
const CHECK_MS = 1000;
/** How long a file must have been left alone: one that is being written may be half there. */
const QUIET_MS = 1000;
const MAX_BYTES = 16_384;

/** What may stand in a header, and is still the same behind it (RFC 9110, section 5.5). */
const SECRET = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

interface Held {
  readonly secret: Credential;
  /** Which file it was, in which state. */
  readonly stamp: string;
}

/**
 * Opens a file that holds a secret: one line, of which the newline is left out. It is read anew once it has changed, in place
 * or by a rename of it or of a folder or link on the way, as in secrets that Kubernetes mounts. While it cannot be used
 * (it is away, empty, or being written) the secret before stays: whether that still holds, the upstream says.
 */
export function openSecretFile(path: string, { now, onChange }: SecretFileOptions): SecretFile | Unusable {
  const first = readSecret(path);
  if ('issue' in first) return first;
  let held = first;
  let checkedAt = now();
  let checking: Promise<void> | undefined;
  let told: string | undefined;

  function tell(issue: string): void {
    if (issue !== told) onChange(issue);
    told = issue;
  }

  async function check(): Promise<void> {
    try {
      const found = await stat(path, { bigint: true });
      if (stampOf(found) === held.stamp) {
        told = undefined;
        return;
      }
      // The time of its last change, that of a rename included, which nobody can set.
      if (Math.abs(now() - Number(found.ctimeMs)) < QUIET_MS) return;
    } catch (error) {
      tell(whyUnread(error));
      return;
    }
    const read = readSecret(path);
    if ('issue' in read) {
      tell(read.issue);
      return;
    }
    told = undefined;
    const isSame = read.secret.reveal() === held.secret.reveal();
    held = isSame ? { ...read, secret: held.secret } : read;
    if (!isSame) onChange();
  }

  return {
    async current(signal) {
      if (checking === undefined && Math.abs(now() - checkedAt) >= CHECK_MS) {
        checkedAt = now();
        checking = check().finally(() => {
          checking = undefined;
        });
      }
      const pending = checking;
      if (pending !== undefined) await withAbort(signal, () => pending);
      return held.secret;
    },
  };
}

/** At once: it is small, and read when the process starts and when it has changed. A pipe is not waited for. */
function readSecret(path: string): Held | Unusable {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const before = fstatSync(descriptor, { bigint: true });
    if (!before.isFile()) return { issue: 'is no file' };
    if (before.size > MAX_BYTES) return { issue: `is larger than ${MAX_BYTES} bytes` };
    const bytes = Buffer.alloc(MAX_BYTES);
    const length = readSync(descriptor, bytes, 0, MAX_BYTES, 0);
    const stamp = stampOf(fstatSync(descriptor, { bigint: true }));
    if (stamp !== stampOf(before) || BigInt(length) !== before.size) return { issue: 'changed while it was read' };
    const text = bytes.toString('latin1', 0, length).replace(/\r?\n$/, '');
    if (text === '') return { issue: 'is empty' };
    if (!SECRET.test(text)) return { issue: 'must hold one line of printable ASCII, without white space around it' };
    return { secret: new Credential(text), stamp };
  } catch (error) {
    return { issue: whyUnread(error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function whyUnread(error: unknown): string {
  return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
}
