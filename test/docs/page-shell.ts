import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN, startProcess } from '../support/process/process.ts';
import { toolEnvironment } from '../support/tools.ts';

const INSPECTOR = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

const TIMEOUT_MS = 50_000;

/** What stands for the commands of the page. That of Claude Code tells what it was told. */
const COMMANDS = {
  portico: `exec '${process.execPath}' '${MAIN}' "$@"`,
  npx: `[ "$1" = @modelcontextprotocol/inspector ] && shift && exec '${process.execPath}' '${INSPECTOR}' "$@"`,
  claude: 'printf "%s\\n" "$@"',
};

export interface PageShell {
  /** Runs a line with a home of its own and `env`. Rejects with what it said where it fails, or complains. */
  run(line: string, env?: Record<string, string>): Promise<string>;
}

/** A shell in which the commands of the page are there. `folder` takes them. */
export async function createPageShell(folder: string): Promise<PageShell> {
  for (const [name, command] of Object.entries(COMMANDS)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${command}\n`);
    await chmod(join(folder, name), 0o755);
  }
  // It tells of its progress where nobody watches, and takes a failure for an answer.
  await writeFile(join(folder, '.curlrc'), 'fail\nsilent\nshow-error\n');
  return {
    async run(line, env = {}) {
      const { PATH, ...inherited } = toolEnvironment({ HOME: folder, ...env });
      const { code, stdout, stderr } = await startProcess('sh', ['-c', line], {
        env: { ...inherited, PATH: `${folder}:${PATH}` },
        timeout: TIMEOUT_MS,
      }).ended;
      if (code !== 0 || stderr !== '') throw new Error(`ended with ${code}: ${line}\n${stderr}`);
      return stdout;
    },
  };
}
