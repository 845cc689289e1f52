import { Agent, get, type IncomingHttpHeaders } from 'node:http';

/** An answer, read whole. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A client that keeps its connections. */
export interface Client {
  /** Rejects where the connection fails; every status is an answer. */
  read(url: string, token: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  close(): void;
}

export function createClient(): Client {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 4096 });
  return {
    read: (url, token, headers = {}) =>
      new Promise((resolve, reject) => {
        const request = get(url, { agent, headers: { authorization: `Bearer ${token}`, ...headers } }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode = 0, headers: fields } = response;
            resolve({ status: statusCode, headers: fields, body: Buffer.concat(chunks) });
          });
        });
        request.on('error', reject);
      }),
    close: () => agent.destroy(),
  };
}

/** Runs `work` for 1 up to `count`, `width` of them at once. */
export async function each(count: number, width: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}
