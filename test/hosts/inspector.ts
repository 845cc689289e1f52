import { z } from 'zod';
import { type Client, type Server, texts } from '../core/mcp/clients/client.ts';
import { newFolder, startProcess } from '../support/process/process.ts';
import { toolEnvironment } from '../support/tools.ts';

/** It takes this long at the very most: its start, and a start of the server over stdio. */
const TIMEOUT_MS = 60_000;

const AUTH_REQUIRED = 3;

const blocks = z.array(z.looseObject({}));
const output = z.object({
  result: z.looseObject({
    resources: z.array(z.looseObject({ uri: z.string(), mimeType: z.string().optional() })).optional(),
    contents: blocks.optional(),
    content: blocks.optional(),
    isError: z.boolean().optional(),
  }),
});

/** The Inspector's CLI, whose program is `launcher`: each request is a process with a connection of its own. */
export function inspector(revision: Client['revision'], launcher: () => string): Client {
  return {
    name: revision,
    revision,
    tellsRevision: [],
    async connect(server) {
      const era = revision === '2026-07-28' ? 'modern' : 'legacy';
      const options = ['--format', 'json', '--quiet', '--protocol-era', era, '--stored-auth-only'];
      const ask = async (...request: string[]) =>
        output.parse(JSON.parse(await run(launcher(), [...options, ...request, ...targetOf(server)]))).result;
      return {
        revision: undefined,
        list: async () => (await ask('--method', 'resources/list')).resources ?? [],
        read: async (uri) => texts((await ask('--method', 'resources/read', '--uri', uri)).contents ?? []),
        call: async (tool, args) => {
          const named = ['--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
          const { content = [], isError } = await ask('--method', 'tools/call', ...named);
          if (isError === true) throw new Error(`the tool failed: ${JSON.stringify(content)}`);
          return texts(content);
        },
        close: async () => {},
      };
    },
    errorOf(error) {
      if (!(error instanceof InspectorError)) throw error;
      const { message, exitCode } = error;
      return exitCode === AUTH_REQUIRED ? { message, status: 401 } : { message };
    },
  };
}

/** Its standard error when it failed. */
class InspectorError extends Error {
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

function targetOf(server: Server): string[] {
  if (server.kind === 'stdio') {
    const env = Object.entries(server.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    return [...env, '--', server.command, ...server.args];
  }
  const { url, token } = server;
  const header = token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`];
  return ['--transport', 'http', '--server-url', url, ...header];
}

/** Runs it with a home of its own, where it keeps what it stores, and gives what it printed. */
async function run(launcher: string, args: readonly string[]): Promise<string> {
  const home = await newFolder();
  const options = { env: toolEnvironment({ HOME: home }), timeout: TIMEOUT_MS };
  const { code, stdout, stderr } = await startProcess(process.execPath, [launcher, '--cli', ...args], options).ended;
  if (code !== 0) throw new InspectorError(stderr, code);
  return stdout;
}
