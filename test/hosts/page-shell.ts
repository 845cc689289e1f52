import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN, startProcess } from '../support/process/process.ts';
import { toolEnvironment } from '../support/tools.ts';

const INSPECTOR = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

const TIMEOUT_MS = 50_000;

/** Stubs for the commands of the page. That of Claude Code prints its arguments. */
const COMMANDS = {
  portico: `exec '${process.execPath}' '${MAIN}' "$@"`,
  npx: `[ "$1" = @modelcontextprotocol/inspector ] && shift && exec '${process.execPath}' '${INSPECTOR}' "$@"`,
  claude: 'printf "%s\\n" "$@"',
};

export interface PageShell {
  /** Runs a line with a separate home and `env`. Rejects with its output if it fails or writes to standard error. */
  run(line: string, env?: Record<string, string>): Promise<string>;
}

/** A shell in which the commands of the page are there. `folder` takes them. */
export async function createPageShell(folder: string): Promise<PageShell> {
  for (const [name, command] of Object.entries(COMMANDS)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${command}\n`);
    await chmod(join(folder, name), 0o755);
  }
  // It prints progress without a terminal, and treats a failure as a result.
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
