import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_CORE } from './cores.ts';
import { accepting, freePort } from './ports.ts';
import { has } from './process.ts';
import type { Workshop } from './workshop.ts';

/** A Redis on the clients' core, as settings name it. Rejects where this machine has none. */
export async function serveRedis(workshop: Workshop) {
  if (!has('redis-server')) throw new Error('there is no redis-server here (Debian package redis-server)');
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', workshop.folder];
  workshop.run(CLIENT_CORE, 'redis-server', args);
  await accepting(port);
  const keySecretFile = join(workshop.folder, 'fleet-secret');
  await writeFile(keySecretFile, 'a secret of the bench, which is long enough');
  // No command is to be given up since the machine has other things to do.
  return { url: `redis://127.0.0.1:${port}`, keySecretFile, timeoutMs: 1000 };
}
