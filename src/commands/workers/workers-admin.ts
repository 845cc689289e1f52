import { request } from 'node:http';
import type { WorkerAnswer, WorkerRequest, Workers } from '../../capabilities/capability.ts';
import { operationsAcrossWorkers } from '../../composition.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { createAuthenticate } from '../../core/credentials/authenticate.ts';
import type { Edge } from '../../core/http/edge.ts';
import { createAdminEdge } from '../../core/http/listeners.ts';
import { createOwnFiles, withFiles } from '../../core/own-files.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A worker that does not answer by then is left out. */
const ANSWER_MS = 2000;

export interface WorkersAdminOptions extends Omit<Workers, 'ask'> {
  readonly workers: () => readonly Pick<WorkerProcess, 'id' | 'adminSocketPath'>[];
  readonly isDraining: () => boolean;
}

/** Creates the admin listener for all workers: what it answers is combined from theirs. `undefined` where settings have none. */
export function createWorkersAdmin(config: Config, options: WorkersAdminOptions): Edge | undefined {
  if (!config.admin.enabled) return undefined;
  const { workers, isDraining, ...counts } = options;
  const files = createOwnFiles({ events: {}, now: Date.now });
  const tls = withFiles(config.admin.tls, files.listenerTls('admin', config));
  files.check();
  const ask = (asked: WorkerRequest): Promise<readonly WorkerAnswer[]> =>
    Promise.all(
      workers().map(async ({ id, adminSocketPath }) => ({ worker: id, body: await bodyOf(adminSocketPath, asked) })),
    );
  const operations = operationsAcrossWorkers(config, { ask, ...counts });
  const authenticate = createAuthenticate();
  return createAdminEdge({ settings: { ...config.admin, tls }, authenticate, events: {}, isDraining, operations });
}

function bodyOf(socketPath: string, { method, path, accept, body }: WorkerRequest): Promise<Buffer | undefined> {
  const headers = { ...(accept !== undefined && { accept }), 'content-length': body?.length ?? 0 };
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const signal = AbortSignal.timeout(ANSWER_MS);
  const asked = request({ socketPath, method, path, headers, signal, agent: false }, async (answer) => {
    const parts: Buffer[] = await answer.toArray().catch(() => []);
    resolve(answer.complete && answer.statusCode === 200 ? Buffer.concat(parts) : undefined);
  });
  asked.on('error', () => resolve(undefined));
  asked.end(body);
  return promise;
}
