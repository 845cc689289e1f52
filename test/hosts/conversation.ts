import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onCleanup } from '../support/cleanup.ts';
import { codeBlocks, readDoc, sectionOf } from '../support/docs.ts';
import { installPlatform } from '../support/platform/installed.ts';
import { type Ended, MAIN, newFolder, startProcess } from '../support/process/process.ts';
import type { Given, GivenTool, Reply } from './dialects.ts';
import { type Host, WORK } from './hosts.ts';
import { startModel } from './model-server.ts';

/** The page's own address, settings file and token. */
const DOCUMENTED = { address: 'http://127.0.0.1:8080', file: '/path/to/portico.yaml', token: 'your-token' };
const RUN_MS = 100_000;
const NOWHERE = 'http://127.0.0.1:9';

/** Folders of the commands of a host and of its Node, in the order of PATH. */
export async function installHost(context: Mocha.Context, host: Host): Promise<readonly string[]> {
  const [name] = host.package;
  const installed = await installPlatform(context, { name, version: host.version, scripts: [name] });
  const commands = join(installed.slice(0, -name.length), '.bin');
  if (host.node === undefined) return [commands, dirname(process.execPath)];
  const node = await installPlatform(context, { name: 'node', version: host.node, scripts: ['node'] });
  return [commands, join(node, 'bin')];
}

/** What a host connects to: a running Portico, or a settings file for one that it starts. */
export type Target = { readonly url: string } | { readonly file: string };

export interface Conversation {
  /** Tools of which the model has the definition. */
  tools(): Given['tools'];
  /** Has the model search for further tools, where the host gives it names only, and resolves with the result. */
  load(query: string): Promise<string>;
  /** Has the model call a tool by the end of its name, and resolves with the result that it is given. */
  call(tool: string, args?: object): Promise<string>;
  /** Has the model end, and resolves with the end of the host. */
  end(): Promise<Ended>;
}

interface HostRun {
  readonly requests: readonly string[];
  readonly ended: Promise<Ended>;
  /** Waits for the first request with tools of Portico, and has their definitions loaded. */
  converse(): Promise<Conversation>;
}

/** Starts a host with the settings of its section of the page, in which only address, file and token are replaced. */
export async function startHost(host: Host, path: readonly string[], target: Target, token: string): Promise<HostRun> {
  const home = await newFolder();
  // `portico` in PATH.
  await writeFile(join(home, 'portico'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });
  const model = await startModel();
  const [language, file] = host.settings;
  const files = host.files?.(model.url) ?? {};
  const own = { ...files, [file]: `${files[file] ?? ''}${settingsOf(host, language, target, token)}` };
  for (const [each, text] of Object.entries({ ...own, [`${WORK}/README.md`]: '' })) {
    await mkdir(dirname(join(home, each)), { recursive: true });
    await writeFile(join(home, each), text);
  }
  const { args, env } = host.run(model.url);
  const running = startProcess(host.package[1], args, {
    cwd: join(home, WORK),
    env: { ...surroundings(home, path), PORTICO_TOKEN: token, ...env },
    detached: true,
    timeout: RUN_MS,
  });
  onCleanup(() => endGroup(running.child.pid));
  const early = running.ended.then((ended): never => {
    throw new Error(`the host ended with ${ended.code ?? ended.signal}: ${ended.stdout}\n${ended.stderr}`);
  });
  early.catch(() => {});

  async function converse(): Promise<Conversation> {
    let given = await Promise.race([model.first, early]);
    const loaded = new Map<string, GivenTool>();

    async function use(reply: Reply): Promise<string> {
      given = await Promise.race([model.reply(reply), early]);
      return given.results.at(-1) ?? '';
    }

    async function load(query: string): Promise<string> {
      if (host.load === undefined) return '';
      const found = await use(host.load(query));
      for (const tool of definitionsIn(found)) loaded.set(tool.name, tool);
      return found;
    }

    await load('portico');
    return {
      tools: () => [...given.tools, ...loaded.values()],
      load,
      async call(tool, args = {}) {
        const named = ({ name }: { name: string }) => name.endsWith(tool);
        const { name } = [...given.tools, ...loaded.values()].find(named) ?? {};
        if (name === undefined) throw new Error(`no ${tool} among ${given.tools.map((one) => one.name).join(', ')}`);
        const isHidden = host.callBy !== undefined && !given.tools.some(named);
        return use(isHidden ? { tool: host.callBy, args: { name, arguments: args } } : { tool: name, args });
      },
      end() {
        void model.reply({ text: 'The end.' });
        return running.ended;
      },
    };
  }

  return { requests: model.requests, ended: running.ended, converse };
}

/** Definitions as text: of tools that are called by another one. */
function definitionsIn(text: string): Given['tools'] {
  return [...text.matchAll(/<function>(.*?)<\/function>/gs)].map(([, one = '']) => {
    const sent = JSON.parse(one);
    const { name, description, parametersJsonSchema: schema } = sent;
    return { name, description, schema, sent };
  });
}

function settingsOf({ name }: Host, language: string, target: Target, token: string): string {
  const [from, to] = 'url' in target ? [DOCUMENTED.address, target.url] : [DOCUMENTED.file, target.file];
  return documentedSettings(name, language, from).replaceAll(from, to).replaceAll(DOCUMENTED.token, token);
}

/** The settings of a host on the page, or those of the one to which its section refers: "as for X, with `TOKEN`". */
function documentedSettings(name: string, language: string, having: string): string {
  const page = 'docs/clients.md';
  const block = codeBlocks(page, language, name).find((one) => one.includes(having));
  if (block !== undefined) return block;
  const [, other, token = DOCUMENTED.token] =
    /\bas for ([\w ]+)(?:, with `(.+)`)?\.$/m.exec(sectionOf(readDoc(page), name)) ?? [];
  if (other === undefined) throw new Error(`the page has no settings of ${name} with ${having}`);
  return documentedSettings(other, language, having).replaceAll(DOCUMENTED.token, token);
}

/** No more than a program needs, a home of its own, and no way out but loopback. */
function surroundings(home: string, path: readonly string[]): Record<string, string> {
  return {
    PATH: [...path, home, process.env['PATH']].join(':'),
    HOME: home,
    TMPDIR: home,
    ...Object.fromEntries(['CONFIG', 'DATA', 'CACHE', 'STATE'].map((of) => [`XDG_${of}_HOME`, join(home, `.${of}`)])),
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1,localhost',
    DO_NOT_TRACK: '1',
  };
}

/** Ends a host and whatever it has started and not ended. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}
