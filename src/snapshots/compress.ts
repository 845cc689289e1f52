import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { unpooled } from './unpooled.ts';

/** A content coding that snapshots are sent in (RFC 9110, section 8.4.1; zstd is RFC 8878). */
export type Coding = 'zstd' | 'gzip';

const coders = { zstd: promisify(zstdCompress), gzip: promisify(gzip) } as const;

/** The same bytes in another coding. Works on the thread pool, off the event loop. */
export async function compress(bytes: Buffer, coding: Coding): Promise<Buffer> {
  return unpooled([await coders[coding](bytes)]);
}
