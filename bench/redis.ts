import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { CLIENT_CORE } from './cores.ts';
import { accepting, freePort } from './ports.ts';
import { has } from './process.ts';
import type { Workshop } from './workshop.ts';

/** A Redis on the clients' core. */
export interface BenchRedis {
  /** As settings name it. */
  readonly shared: { readonly url: string; readonly keySecretFile: string };
  readonly port: number;
  /** Has it do a command that it says OK to. */
  tell(command: string): Promise<void>;
  /** Leaves it standing there, saying nothing; or has it go on. */
  hang(hangs: boolean): void;
}

/** Rejects where this machine has none. */
export async function serveRedis(workshop: Workshop): Promise<BenchRedis> {
  if (!has('redis-server')) throw new Error('there is no redis-server here (Debian package redis-server)');
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', workshop.folder];
  const { pid } = workshop.run(CLIENT_CORE, 'redis-server', args);
  await accepting(port);
  const keySecretFile = join(workshop.folder, 'fleet-secret');
  await writeFile(keySecretFile, 'a secret of the bench, which is long enough');
  // No command is to be given up since the machine has other things to do.
  return {
    shared: { url: `redis://127.0.0.1:${port}`, keySecretFile },
    port,
    async tell(command) {
      const socket = connect(port, '127.0.0.1').end(`${command}\r\n`);
      const [said] = await once(socket, 'data');
      if (!String(said).startsWith('+OK')) throw new Error(`redis-server says to ${command}: ${said}`);
    },
    hang: (hangs) => void process.kill(pid, hangs ? 'SIGSTOP' : 'SIGCONT'),
  };
}
