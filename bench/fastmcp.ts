import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ours } from './server.ts';

const VERSION = '4.20.16';

/**
 * Where FastMCP is, installed on first use: its 170 packages are more than a comparison should add to every `npm ci`.
 * `undefined`, and a message, where it cannot be installed.
 */
export function findFastmcp(): string | undefined {
  const folder = ours(`node_modules/.cache/bench-fastmcp-${VERSION}`);
  const entry = `${folder}/node_modules/fastmcp/dist/FastMCP.js`;
  if (existsSync(entry)) return entry;
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
  const { status } = spawnSync('npm', ['install', ...flags, `fastmcp@${VERSION}`], { stdio: 'ignore' });
  if (status === 0 && existsSync(entry)) return entry;
  process.stderr.write(`bench: fastmcp ${VERSION} cannot be installed; its rows are left out\n`);
  return undefined;
}
