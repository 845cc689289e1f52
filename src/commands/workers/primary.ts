import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerAnswer, WorkerRequest, Workers } from '../../capabilities/capability.ts';
import { operationsAcrossWorkers } from '../../composition.ts';
import { logWarnings } from '../../core/config/config-error.ts';
import type { LoadedConfig } from '../../core/config/load-config.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { createAuthenticate } from '../../core/credentials/authenticate.ts';
import type { Edge } from '../../core/http/edge.ts';
import { createAdminEdge } from '../../core/http/listeners.ts';
import { standardOutput } from '../../core/log/destination.ts';
import { createLogger } from '../../core/log/logger.ts';
import { createOwnFiles, withFiles } from '../../core/own-files.ts';
import { installCrashHandler, nextSignal } from '../process-end.ts';
import { listenIssue } from '../serve.ts';
import { startWorker, type WorkerProcess, workerSetup } from './worker-process.ts';

/** Time from the start of a worker to that of its replacement, at least. */
const PAUSE_MS = 1000;

/** Runs workers until SIGTERM or SIGINT. Resolves with 0 if all have drained, or with the first one's code if it could not start. */
export async function serveWorkers({ config, warnings }: LoadedConfig, count: number): Promise<number> {
  const destination = standardOutput();
  const logger = createLogger({ ...config.log, destination });
  installCrashHandler(logger);
  logWarnings(logger, warnings);
  const setup = workerSetup(destination);
  const running = new Set<WorkerProcess>();
  let restarts = 0;
  let isDraining = false;

  /** A worker that is starting gets it once it is ready: it may have read the settings before they changed. */
  const sendAll = (signal: NodeJS.Signals) => {
    for (const worker of running) void worker.ready.then(() => worker.send({ signal }));
    return true;
  };
  const signalled = nextSignal(logger, destination, {
    reload: () => sendAll('SIGHUP'),
    reopen: () => sendAll('SIGUSR2'),
  });

  function start(): WorkerProcess {
    const worker = startWorker(setup);
    running.add(worker);
    void worker.ended.then(() => running.delete(worker));
    return worker;
  }

  /** Replaces a worker whenever it ends. Resolves with the exit code of the one that ends in the drain. */
  async function keep(worker: WorkerProcess): Promise<number> {
    const { code, signal } = await worker.ended;
    if (isDraining) return code ?? 1;
    restarts += 1;
    const { id, pid, startedAt } = worker;
    logger.error({ worker: id, pid, code, signal }, 'worker ended');
    await sleep(Math.max(0, startedAt + PAUSE_MS - performance.now()));
    return isDraining ? 0 : keep(start());
  }

  // Alone, so that what is wrong with settings or ports is reported once.
  const first = start();
  const url = await Promise.race([first.ready, first.ended, signalled.then(() => ({ code: 0 }))]);
  if (typeof url === 'object') return url.code ?? 1;
  const others = Array.from({ length: count - 1 }, start);
  const kept = [first, ...others].map(keep);
  await Promise.race([Promise.all(others.map(({ ready }) => ready)), signalled]);
  const workers = () => [...running].filter(({ isReady }) => isReady());
  const admin = createWorkersAdmin(config, {
    workers,
    count,
    restarts: () => restarts,
    droppedLogLines: destination.droppedLines,
    isDraining: () => isDraining || workers().length === 0,
  });

  async function drain(signal: NodeJS.Signals): Promise<boolean> {
    isDraining = true;
    for (const worker of running) if (!worker.isReady()) worker.kill();
    sendAll(signal);
    const codes = await Promise.all(kept);
    return codes.every((code) => code === 0);
  }

  try {
    const adminUrl = await admin?.listen();
    logger.info({ url, adminUrl, workers: count }, 'workers listening');
  } catch (error) {
    process.stderr.write(`portico: ${listenIssue(error, 'admin')}\n`);
    await drain('SIGTERM');
    return 1;
  }
  const whole = await drain(await signalled);
  await admin?.drain(0);
  return whole ? 0 : 1;
}

/** A worker that does not answer by then is left out. */
const ANSWER_MS = 2000;

interface WorkersAdminOptions extends Omit<Workers, 'ask'> {
  readonly workers: () => readonly Pick<WorkerProcess, 'id' | 'adminSocketPath'>[];
  readonly isDraining: () => boolean;
}

/** Creates the admin listener for all workers: what it answers is combined from theirs. `undefined` where settings have none. */
function createWorkersAdmin(config: Config, options: WorkersAdminOptions): Edge | undefined {
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
