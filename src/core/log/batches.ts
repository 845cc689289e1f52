/** Bytes of one write: each costs as much as several requests do. */
const BATCH_BYTES = 65_536;
/** The most bytes of UTF-8 that one UTF-16 code unit becomes. */
const BYTES_OF_UNIT = 3;

/** Lines that wait to be written, in batches of 64 KiB. A line that is longer is a batch of its own. */
export interface Batches {
  /** What waits. */
  readonly bytes: number;
  /** Whether there is a batch that takes no more. */
  readonly hasFull: boolean;
  add(line: string): void;
  /** The oldest batch, full or not. It is whoever's has taken it; its buffer holds nothing else. */
  take(): Buffer | undefined;
  /** Brings back what was taken and is to be written first. */
  putBack(batch: Buffer): void;
  /** Brings back memory of a batch that has been written. */
  reuse(batch: Buffer): void;
  /** Forgets all. */
  clear(): void;
}

/** Copies each line at once, so that a request leaves no text behind for the garbage collector (docs/decisions/0013). */
export function createBatches(): Batches {
  let batch: Buffer = Buffer.allocUnsafeSlow(BATCH_BYTES);
  let length = 0;
  let spare: Buffer | undefined;
  /** Oldest first. */
  const full: Buffer[] = [];
  let fullBytes = 0;

  function seal(): void {
    if (length === 0) return;
    hold(batch.subarray(0, length));
    batch = spare ?? Buffer.allocUnsafeSlow(BATCH_BYTES);
    spare = undefined;
    length = 0;
  }

  function hold(bytes: Buffer): void {
    full.push(bytes);
    fullBytes += bytes.length;
  }

  return {
    get bytes() {
      return fullBytes + length;
    },
    get hasFull() {
      return full.length > 0;
    },
    add(line) {
      if (line.length * BYTES_OF_UNIT > BATCH_BYTES - length) seal();
      if (line.length * BYTES_OF_UNIT > BATCH_BYTES) hold(ownBytesOf(line));
      else length += batch.write(line, length);
    },
    take() {
      if (full.length === 0) seal();
      const oldest = full.shift();
      fullBytes -= oldest?.length ?? 0;
      return oldest;
    },
    putBack(bytes) {
      full.unshift(bytes);
      fullBytes += bytes.length;
    },
    reuse({ buffer }) {
      if (buffer.byteLength === BATCH_BYTES) spare = Buffer.from(buffer);
    },
    clear() {
      full.length = 0;
      fullBytes = 0;
      length = 0;
    },
  };
}

/** Not from Node's pool, where `Buffer.from` would put it: that memory belongs to others, too. */
function ownBytesOf(line: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(line));
  bytes.write(line);
  return bytes;
}
