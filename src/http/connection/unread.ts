/** What keeps account of the bytes that clients have not read yet. */
interface Reader {
  /** Bytes of responses that were sent to it and that it has not read. */
  unsentBytes: number;
}

/** Bytes of responses that wait for their readers, over all connections of one listener. */
export interface Unread<R extends Reader> {
  add(reader: R, bytes: number): void;
  /** Call it with what a reader has read, or with all that it leaves behind. */
  remove(reader: R, bytes: number): void;
}

/** `cut` is called for readers until no more than `maxBytes` wait: the one first that has read nothing for longest. */
export function createUnread<R extends Reader>(maxBytes: number, cut: (reader: R) => void): Unread<R> {
  /** Those with something unread, in the order in which they last read a whole response, or began to have something unread. */
  const readers = new Set<R>();
  let total = 0;

  function remove(reader: R, bytes: number): void {
    reader.unsentBytes -= bytes;
    total -= bytes;
    readers.delete(reader);
    if (reader.unsentBytes > 0) readers.add(reader);
  }

  return {
    remove,
    add(reader, bytes) {
      if (bytes === 0) return;
      reader.unsentBytes += bytes;
      total += bytes;
      readers.add(reader);
      if (total <= maxBytes) return;
      for (const slowest of readers) {
        if (total <= maxBytes) return;
        remove(slowest, slowest.unsentBytes);
        cut(slowest);
      }
    },
  };
}
