import { createReadStream } from 'node:fs';

/** A problem with a file or an address that a person named. The message is a sentence for them. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

export interface TextReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends one `GET`. Follows no redirect, so that credentials go to the named address only. Throws {@link SourceError}. */
export async function fetchText(
  url: URL,
  { maxBytes, timeoutMs }: { readonly maxBytes: number; readonly timeoutMs: number },
  headers: Readonly<Record<string, string>> = {},
): Promise<TextReply> {
  const place = `${url.origin}${url.pathname}`;
  let response: Response | undefined;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    response = await fetch(url, { headers, signal, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      const to = URL.parse(response.headers.get('location') ?? '', url);
      throw new SourceError(
        `${place} redirects${to === null ? '' : ` to ${to.origin}${to.pathname}`}: name that address`,
      );
    }
    const text = await readBounded(response.body ?? [], maxBytes, place);
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const why = response === undefined ? 'cannot be reached' : 'sent a body that cannot be read';
    const isLate = (error as Error).name === 'TimeoutError';
    throw new SourceError(`${place} ${isLate ? `did not answer within ${timeoutMs / 1000} s` : why}`, { cause: error });
  }
}

/** Reads a text file. Throws {@link SourceError}. */
export async function readTextFile(file: string, maxBytes: number): Promise<string> {
  try {
    return await readBounded(createReadStream(file), maxBytes, file);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`);
  }
}

async function readBounded(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number, place: string) {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) throw new SourceError(`${place} is larger than ${Math.floor(maxBytes / 1_048_576)} MiB`);
    parts.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}
