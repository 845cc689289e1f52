import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/**
 * File descriptors that are held back for connections to an upstream: those of clients may take all others, and who is let
 * in could then not be answered.
 */
export interface DescriptorReserve {
  /** Gives back enough for one connection and the look-up of its host; `false` where none is left. */
  release(): boolean;
  /** Takes what is missing, as far as there is any. */
  refill(): void;
  close(): void;
}

/** Held back for each upstream. */
const RESERVED = 8;
const FOR_ONE_CONNECTION = 2;

export function createDescriptorReserve(): DescriptorReserve {
  const held: number[] = [];
  let closed = false;

  function refill(): void {
    try {
      while (!closed && held.length < RESERVED) held.push(openSync(devNull, 'r'));
    } catch {
      // There is none to spare. The next connection that closes leaves one.
    }
  }

  function release(count: number): boolean {
    const released = held.splice(-count);
    for (const descriptor of released) closeSync(descriptor);
    return released.length > 0;
  }

  refill();
  return {
    release: () => release(FOR_ONE_CONNECTION),
    refill,
    close() {
      closed = true;
      release(RESERVED);
    },
  };
}

/** Whether a connection did not open since this process, or its host, has no descriptor or memory left for it. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(EMFILE|ENFILE|ENOBUFS|ENOMEM)$/.test(String(error.code));
}
