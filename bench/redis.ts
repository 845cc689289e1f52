import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_CORE } from './cores.ts';
import { accepting, freePort } from './ports.ts';
import { has } from './process.ts';
import type { Workshop } from './workshop.ts';

/** Runs Redis on the clients' core, and returns the settings that share it; `undefined`, and a message, where this machine has none. */
export async function serveRedis(workshop: Workshop): Promise<{ url: string; keySecretFile: string } | undefined> {
  if (!has('redis-server')) {
    process.stderr.write('bench: redis-server is missing; its row is left out (Debian package redis-server)\n');
    return undefined;
  }
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', workshop.folder];
  workshop.run(CLIENT_CORE, 'redis-server', args).onOutput(() => {});
  await accepting(port);
  const keySecretFile = join(workshop.folder, 'fleet-secret');
  await writeFile(keySecretFile, 'a secret of the bench, which is long enough');
  return { url: `redis://127.0.0.1:${port}`, keySecretFile };
}
