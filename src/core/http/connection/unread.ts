/** What keeps account of the bytes that clients have not read yet. */
interface Reader {
  /** Bytes of responses that were sent to it and that it has not read. */
  unsentBytes: number;
  /** Bytes that it had taken when it was looked at last. */
  takenBytes: number;
}

/** Bytes of responses that wait for their readers, over all connections of one listener. */
export interface Unread<R extends Reader> {
  add(reader: R, bytes: number): void;
  /** Call it with what a reader has read, or with all that it leaves behind. */
  remove(reader: R, bytes: number): void;
}

export interface UnreadOptions<R> {
  /** No more than these may wait. */
  readonly maxBytes: number;
  /** Bytes that a reader has taken so far. */
  readonly takenBy: (reader: R) => number;
  readonly cut: (reader: R) => void;
}

/**
 * Cuts readers until no more than `maxBytes` wait: the one first that has read nothing for longest. One that has taken a part
 * of its response since it was looked at last is slow, but reads: it is cut only where all do.
 */
export function createUnread<R extends Reader>({ maxBytes, takenBy, cut }: UnreadOptions<R>): Unread<R> {
  /** Those with something unread, in the order in which they last read a whole response, or began to have something unread. */
  const readers = new Set<R>();
  let total = 0;

  function remove(reader: R, bytes: number): void {
    reader.unsentBytes -= bytes;
    total -= bytes;
    readers.delete(reader);
    if (reader.unsentBytes > 0) readers.add(reader);
  }

  /** Whether it has since it was looked at last; then it is the last in line. */
  function hasTakenMore(reader: R): boolean {
    const taken = takenBy(reader);
    if (taken === reader.takenBytes) return false;
    reader.takenBytes = taken;
    readers.delete(reader);
    readers.add(reader);
    return true;
  }

  return {
    remove,
    add(reader, bytes) {
      if (bytes === 0) return;
      reader.unsentBytes += bytes;
      total += bytes;
      readers.add(reader);
      if (total <= maxBytes) return;
      // Who is put last in line comes up once more, and has then taken nothing since.
      for (const slowest of readers) {
        if (total <= maxBytes) return;
        if (hasTakenMore(slowest)) continue;
        remove(slowest, slowest.unsentBytes);
        cut(slowest);
      }
    },
  };
}
