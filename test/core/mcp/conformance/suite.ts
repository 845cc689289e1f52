import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../../../support/process/process.ts';
import { toolEnvironment } from '../../../support/tools.ts';

const SUITE = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** It takes some seconds; a scenario that hangs ends after 30. */
const TIMEOUT_MS = 240_000;

/** One thing that the suite looked at. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export interface Verdict {
  /** 0: all failures were expected, and all that were expected failed. */
  readonly exitCode: number | null;
  /** Its last output. */
  readonly summary: string;
  /** What it looked at, by scenario. */
  readonly checks: ReadonlyMap<string, readonly Check[]>;
}

/** Names of the suite's scenarios for servers of a revision. */
export async function scenarios(revision: string): Promise<string[]> {
  const { output } = await run(['list', '--server', '--spec-version', revision]);
  return [...output.matchAll(/^ {2}- ([\w-]+)/gm)].map(([, name = '']) => name);
}

/** Runs every scenario of a revision against the server at `url`, those that it does not count included. */
export async function runSuite(url: string, revision: string, expected: string, folder: string): Promise<Verdict> {
  const chosen = ['--url', url, '--suite', 'all', '--spec-version', revision];
  const { exitCode, output } = await run(['server', ...chosen, '--expected-failures', expected, '-o', folder]);
  return { exitCode, summary: output.slice(output.indexOf('=== SUMMARY')), checks: await readChecks(folder) };
}

/** The suite leaves a folder for each scenario: `server-<scenario>-<time>`. */
async function readChecks(folder: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const names = await readdir(folder);
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, Check[]]> => {
        const [, scenario = name] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name) ?? [];
        return [scenario, JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'))];
      }),
    ),
  );
}

async function run(args: readonly string[]): Promise<{ exitCode: number | null; output: string }> {
  const options = { env: toolEnvironment(), timeout: TIMEOUT_MS };
  const { code, stdout, stderr } = await startProcess(process.execPath, [SUITE, ...args], options).ended;
  return { exitCode: code, output: stdout + stderr };
}
