/**
 * These chunks as one buffer with memory of its own. `Buffer.from` and `Buffer.concat` cut small ones from a shared
 * slab, and zlib gives views of larger chunks: whoever kept such a buffer would keep more than its length says.
 */
export function unpooled(chunks: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(chunks.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const chunk of chunks) offset += chunk.copy(bytes, offset);
  return bytes;
}
