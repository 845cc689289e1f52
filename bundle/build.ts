/**
 * Builds the MCP bundle of this version, one file that a client installs: `npm run bundle`, or `npm run bundle -- FILE`.
 *
 * In it are the manifest beside this file and, below `server/`, what npm packs, with its production dependencies in the
 * versions that package-lock.json names and the tests ran with.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packExtension } from '@anthropic-ai/mcpb';
import manifest from './manifest.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What `npm ci` needs, and the bundle does not. */
const FOR_NPM = ['package-lock.json', '.npmrc'];

const [file = join(ROOT, `portico-${manifest.version}.mcpb`)] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'portico-bundle-'));
try {
  const content = join(work, 'content');
  layServer(join(content, 'server'));
  copyFileSync(new URL('manifest.json', import.meta.url), join(content, 'manifest.json'));
  if (!(await packExtension({ extensionPath: content, outputPath: resolve(file), silent: true }))) {
    throw new Error('the bundle could not be packed');
  }
} finally {
  rmSync(work, { recursive: true });
}
process.stdout.write(`${resolve(file)}\n`);

/** Lays out what runs. */
function layServer(folder: string): void {
  run('npm', ['pack', '--pack-destination', work], ROOT);
  const [tarball = ''] = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', join(work, tarball), '--strip-components', '1'], folder);
  // It lacks what package.json names for development, which npm ci compares.
  rmSync(join(folder, 'npm-shrinkwrap.json'));
  for (const name of FOR_NPM) copyFileSync(join(ROOT, name), join(folder, name));
  run('npm', ['ci', '--prefix', folder, '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
  for (const name of [...FOR_NPM, 'node_modules/.package-lock.json']) rmSync(join(folder, name));
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
