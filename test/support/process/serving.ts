import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../eventually.ts';
import { freePort } from '../listening.ts';
import { endWithTest, MAIN, type PorticoProcess, porticoEnvironment, runPortico, settingsFile } from './process.ts';

/** A Portico process that is ready. It and its folder are gone with the test. */
export interface Serving extends PorticoProcess {
  readonly file: string;
  readonly url: string;
  readonly adminUrl: string;
  /** Requests a path of the public listener, with a token. */
  ask(path: string): Promise<Response>;
}

export const READ_TOOLS = '/mcp/v1/resources/read?uri=platform://tools';

/** Settings of a process on free ports whose three resources come from the upstream at `baseUrl`, as YAML. */
export function servedFrom(baseUrl: string, overrides: object = {}): string {
  const each = { baseUrl };
  const upstreams = { projects: each, workflows: each, tools: each };
  const confirmation = { enabled: false };
  return JSON.stringify({ http: { port: 0 }, admin: { port: 0 }, confirmation, upstreams, ...overrides });
}

/** Runs `portico` by settings of this text, and waits until it is ready. */
export async function startServing(yaml: string, env: Record<string, string> = {}): Promise<Serving> {
  const file = await settingsFile(yaml);
  const portico = runPortico(['--config', file], env);
  const url = await portico.ready;
  const headers = { authorization: 'Bearer token-of-the-test' };
  return {
    ...portico,
    file,
    url,
    adminUrl: /"adminUrl":"([^"]+)"/.exec(portico.stdout())?.[1] ?? '',
    ask: (path) => fetch(`${url}${path}`, { headers }),
  };
}

/** Runs `portico` with its log on `stdout`: a pipe that nothing reads, or an open file. Resolves once it is live. */
export async function startLoggingTo(stdout: 'pipe' | number) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const settings = servedFrom('http://127.0.0.1:9', { http: { port }, admin: { port: adminPort } });
  const file = await settingsFile(settings);
  const child = spawn(process.execPath, [MAIN, '--config', file], {
    env: porticoEnvironment(),
    stdio: ['ignore', stdout, 'inherit'],
  });
  endWithTest(child);
  const ended = once(child, 'exit');
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  await eventually(() => isAnswered(`http://127.0.0.1:${port}`));
  return { child, ended, port, adminUrl: `http://127.0.0.1:${adminPort}`, ask };
}

/** Whether the process at this URL answers, over a connection of its own. */
export async function isAnswered(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/livez`, { headers: { connection: 'close' } })).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
