import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { startProcess } from './process/process.ts';

/** Variables that npm sets for its scripts, which another npm would follow, and those for coverage and the compile cache. */
const OF_THIS_RUN =
  /^(npm_(?!config_(registry|userconfig|cache|cafile)$)|INIT_CWD$|NODE_V8_COVERAGE$|NODE_COMPILE_CACHE$)/;

/** The environment of a tool that works in a folder of its own, with the Node of this run first in its PATH. */
export function toolEnvironment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name));
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
  return { ...Object.fromEntries(kept), PATH: path, ...more };
}

/** Runs a tool to its end and returns its standard output; rejects with all its output if it fails. */
export async function runTool(
  command: string,
  args: readonly string[],
  cwd: string,
  env = {},
  user: { readonly uid?: number; readonly gid?: number } = {},
): Promise<string> {
  const { code, stdout, stderr } = await startProcess(command, args, { cwd, env: toolEnvironment(env), ...user }).ended;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/**
 * Skips a test whose requirements this machine lacks, with a message. On CI (`CI=true`) that is a failure: there, a test that
 * did not run must not pass for one that did.
 */
export function skipAloud(context: Mocha.Context, why: string, cause?: unknown): never {
  if (process.env['CI'] === 'true') throw new Error(why, { cause });
  process.stderr.write(`SKIPPED: ${why}\n`);
  return context.skip();
}

/** Skips the tests of a suite that need programs which are not here. */
export function needsCommands(context: Mocha.Context, commands: readonly string[]): void {
  const missing = commands.filter((command) => spawnSync(command, ['--version']).error !== undefined);
  if (missing.length > 0) skipAloud(context, `${missing.join(' and ')} is not here`);
}

/** Skips the tests of a suite where npm cannot reach its registry. */
export async function needsRegistry(context: Mocha.Context): Promise<void> {
  try {
    await runTool('npm', ['view', 'mocha', 'name'], '/');
  } catch (error) {
    skipAloud(context, 'npm cannot reach its registry', error);
  }
}
