import { open } from 'node:fs/promises';
import { ConfigError } from './config-error.ts';

const MAX_BYTES = 1_048_576;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
};

/** The text of a settings file: UTF-8, at most 1 MiB. Throws {@link ConfigError}. Pipes may be read too. */
export async function readSettings(file: string): Promise<string> {
  const bytes = await readBytes(file).catch((error: NodeJS.ErrnoException) => {
    throw fault(file, `cannot be read: ${REASONS[error.code ?? ''] ?? error.code ?? 'unknown reason'}`);
  });
  if (bytes.length > MAX_BYTES) throw fault(file, 'is larger than 1 MiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fault(file, 'is not UTF-8 text');
  }
}

/** One byte more than allowed at most, so that the caller sees that there is more. */
async function readBytes(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await handle.close();
  }
}

function fault(file: string, message: string): ConfigError {
  return new ConfigError([{ path: [], message }], file);
}
