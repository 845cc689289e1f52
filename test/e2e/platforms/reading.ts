import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { runPortico } from '../../support/process/process.ts';

/** Settings of a Portico that listens on a free port and has no admin listener. */
const LISTENERS = { http: { port: 0 }, admin: { enabled: false }, log: { level: 'info' } };

async function write(folder: string, settings: object): Promise<string> {
  const file = join(folder, `portico-${Date.now()}-${Math.random()}.yaml`);
  await writeFile(file, stringify({ ...settings, ...LISTENERS }));
  return file;
}

/** What `check --probe` prints about a platform, and the code with which it ends. */
export async function probe(folder: string, settings: object, token: string, env: Record<string, string> = {}) {
  const file = await write(folder, settings);
  const { code, stdout, stderr } = await runPortico(['check', '--probe', file], { ...env, PORTICO_TOKEN: token }).ended;
  return { code, printed: stdout + stderr };
}

/** Starts `portico serve`, and returns how to read from it. */
export async function serve(folder: string, settings: object, env: Record<string, string> = {}) {
  const portico = runPortico(['serve', await write(folder, settings)], env);
  const url = await portico.ready;
  return async (name: string, token: string) => {
    const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: await response.json() };
  };
}
