import { createHash } from 'node:crypto';
import type { Snapshot } from './snapshot.ts';
import { unpooled } from './unpooled.ts';

const NONE = Object.freeze({});

/** Builds one snapshot, page by page, so that no single step holds the event loop long. */
export interface SnapshotWriter {
  add(items: readonly object[]): void;
  finish(): Snapshot;
}

/** `loadedAt` is when the load began, in milliseconds since the epoch. */
export function createSnapshotWriter(loadedAt: number): SnapshotWriter {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  const starts: number[] = [];
  let length = 0;
  const write = (text: string) => {
    const chunk = Buffer.from(text);
    hash.update(chunk);
    chunks.push(chunk);
  };
  return {
    add(items) {
      let text = '';
      for (const item of items) {
        const json = JSON.stringify(item);
        text += (starts.length === 0 ? '[' : ',') + json;
        starts.push(length + 1);
        length += 1 + Buffer.byteLength(json);
      }
      if (text !== '') write(text);
    },
    finish() {
      write(starts.length === 0 ? '[]' : ']');
      return Object.freeze({
        bytes: unpooled(chunks),
        etag: `W/"${hash.digest('base64url').slice(0, 22)}"`,
        count: starts.length,
        itemStarts: Uint32Array.from(starts),
        loadedAt,
        representations: NONE,
      });
    },
  };
}
