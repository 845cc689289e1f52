import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nextPort } from '../listening.ts';
import { type RunningProcess, startProcess } from '../process/process.ts';
import { needsRegistry, skipAloud, toolEnvironment } from '../tools.ts';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/portico-platforms', import.meta.url));
const INSTALL_MS = 420_000;
const START_MS = 120_000;

/** A platform, or a host of MCP, in a package of npm. Only the packages in `scripts` run their install scripts. */
export interface PlatformPackage {
  readonly name: string;
  readonly version: string;
  readonly scripts: readonly string[];
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  const all = [...args, '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, stderr } = await startProcess('npm', all, { cwd, env: toolEnvironment(), timeout: INSTALL_MS }).ended;
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}: ${stderr.slice(-2000)}`);
}

/** Installs a platform into the cache, or skips the suite aloud where npm cannot. Returns the folder of the package. */
export async function installPlatform(context: Mocha.Context, of: PlatformPackage): Promise<string> {
  const id = `${of.name}-${of.version}`.replace('/', '+');
  const home = join(CACHE, id);
  if (!existsSync(home)) {
    await needsRegistry(context);
    await mkdir(CACHE, { recursive: true });
    const folder = await mkdtemp(join(CACHE, 'incomplete-'));
    try {
      const allowScripts = Object.fromEntries(of.scripts.map((name) => [name, true]));
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts }));
      await npm(folder, 'install', `${of.name}@${of.version}`, '--ignore-scripts');
      if (of.scripts.length > 0) await npm(folder, 'rebuild', ...of.scripts);
      await rename(folder, home);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      skipAloud(context, `${id} cannot be installed: ${(error as Error).message}`, error);
    }
  }
  return join(home, 'node_modules', of.name);
}

export interface StartedPlatform extends RunningProcess {
  readonly url: string;
}

/**
 * Starts a program of Node on a port of loopback, and resolves once `path` answers with `status`. What it sends by way of a
 * proxy goes nowhere. The process has no other environment than PATH and `env`.
 */
export async function startPlatform(
  program: (port: number) => { readonly args: readonly string[]; readonly env: Record<string, string> },
  { cwd, path, status }: { readonly cwd: string; readonly path: string; readonly status: number },
): Promise<StartedPlatform> {
  const port = nextPort();
  const { args, env } = program(port);
  const nowhere = 'http://127.0.0.1:9';
  const proxies = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: '127.0.0.1' };
  const all = { PATH: process.env['PATH'] ?? '', HOME: cwd, ...proxies, ...env };
  const running = startProcess(process.execPath, args, { cwd, env: all });
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + START_MS;
  for (;;) {
    if (running.child.exitCode !== null) throw new Error(`the platform ended: ${running.stdout()}${running.stderr()}`);
    const answered = await fetch(url + path, { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
    await answered?.arrayBuffer();
    if (answered?.status === status) return { ...running, url };
    if (performance.now() > until) throw new Error(`the platform is not ready: ${running.stdout().slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
