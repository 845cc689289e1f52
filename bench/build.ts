import { spawnSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { ours } from './server.ts';

/** Entry of the process as it is shipped. */
export const BUILT = 'dist/main.js';

/** Builds what is shipped, where that is missing or older than the sources. */
export function build(): void {
  const built = existsSync(ours(BUILT)) ? statSync(ours(BUILT)).mtimeMs : 0;
  const sources = globSync('src/**/*.ts', { cwd: ours('.') });
  if (sources.every((source) => statSync(ours(source)).mtimeMs < built)) return;
  const { status, stdout } = spawnSync('npm', ['run', 'build'], { cwd: ours('.'), encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm run build failed:\n${stdout}`);
}
