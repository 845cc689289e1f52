import { createHash } from 'node:crypto';
import type { Snapshot } from './snapshot.ts';
import { unpooled } from './unpooled.ts';

const NO_FORMS = Object.freeze({});

/** Builds one snapshot, page by page, so that no single step holds the event loop long. */
export interface SnapshotWriter {
  add(items: readonly object[]): void;
  finish(): Snapshot;
}

/** `loadedAt` is when the load began, in milliseconds since the epoch. */
export function createSnapshotWriter(loadedAt: number): SnapshotWriter {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let count = 0;
  const write = (text: string) => {
    const chunk = Buffer.from(text);
    hash.update(chunk);
    chunks.push(chunk);
  };
  return {
    add(items) {
      if (items.length === 0) return;
      const array = JSON.stringify(items);
      write((count === 0 ? '[' : ',') + array.slice(1, -1));
      count += items.length;
    },
    finish() {
      write(count === 0 ? '[]' : ']');
      const etag = `W/"${hash.digest('base64url').slice(0, 22)}"`;
      return Object.freeze({ bytes: unpooled(chunks), etag, count, loadedAt, forms: NO_FORMS });
    },
  };
}
