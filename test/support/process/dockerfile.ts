import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { runTool } from '../tools.ts';

/** What a stage has come to after its instructions. Paths of the image are paths below `root`. */
export interface Stage {
  readonly image: string;
  readonly root: string;
  readonly env: Record<string, string>;
  workdir: string;
  user: string;
  stopSignal: string;
  entrypoint: readonly string[];
  command: readonly string[];
  healthcheck: readonly string[];
}

interface Build {
  /** What `.dockerignore` lets through. */
  readonly context: string;
  readonly folder: string;
  readonly args: Record<string, string>;
  readonly stages: Map<string, Stage>;
}

/** Copies the parts of `source` that its `.dockerignore` lets through: `*`, and whole paths after `!`. */
async function copyContext(source: string, context: string): Promise<void> {
  const text = await readFile(join(source, '.dockerignore'), 'utf8');
  const [first, ...rest] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*' || !rest.every((line) => /^![\w./-]+$/.test(line)))
    throw new Error('.dockerignore: not understood');
  await mkdir(context);
  for (const line of rest) await cp(join(source, line.slice(1)), join(context, line.slice(1)), { recursive: true });
}

/** One instruction a line, without comments. */
function instructions(text: string): { name: string; rest: string }[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines.flatMap((line) => {
    const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    return name === undefined || rest === undefined ? [] : [{ name, rest }];
  });
}

/** The labels that a Dockerfile gives, with its own values of build arguments. */
export function labelsIn(dockerfile: string): Record<string, string> {
  const [args, labels] = [{}, {}] as [Record<string, string>, Record<string, string>];
  for (const { name, rest } of instructions(dockerfile)) {
    if (name === 'ARG') Object.assign(args, assignments(rest));
    if (name !== 'LABEL') continue;
    for (const [, key = '', value = ''] of rest.matchAll(/([\w.-]+)="([^"]*)"/g)) labels[key] = expand(value, args);
  }
  return labels;
}

/**
 * Builds the last stage of a Dockerfile without an engine: each stage is a folder below `folder`, empty at first,
 * in which the machine's Node replaces that of the base image. An unknown instruction is an error.
 */
export async function buildImage(source: string, folder: string): Promise<Stage> {
  const build: Build = { context: join(folder, 'context'), folder, args: {}, stages: new Map() };
  await copyContext(source, build.context);
  let stage: Stage | undefined;
  for (const { name, rest } of instructions(await readFile(join(source, 'Dockerfile'), 'utf8'))) {
    if (name === 'ARG') Object.assign(build.args, assignments(rest));
    else if (name === 'FROM') stage = await from(build, rest);
    else if (stage === undefined) throw new Error(`${name} before FROM`);
    else await apply(build, stage, name, rest);
  }
  if (stage === undefined) throw new Error('no FROM');
  return stage;
}

async function from(build: Build, rest: string): Promise<Stage> {
  const [image = '', , name = `stage-${build.stages.size}`] = expand(rest, build.args).split(/\s+/);
  const root = join(build.folder, name);
  await mkdir(root);
  const none: readonly string[] = [];
  const stage = { image, root, env: {}, workdir: '/', user: 'root', stopSignal: '' };
  const started = { ...stage, entrypoint: none, command: none, healthcheck: none };
  build.stages.set(name, started);
  return started;
}

async function apply(build: Build, stage: Stage, name: string, rest: string): Promise<void> {
  if (name === 'WORKDIR') {
    stage.workdir = resolve(stage.workdir, rest);
    await mkdir(join(stage.root, stage.workdir), { recursive: true });
  } else if (name === 'ENV') Object.assign(stage.env, assignments(rest));
  else if (name === 'COPY') await copy(build, stage, rest);
  else if (name === 'RUN') await run(stage, rest);
  else if (name === 'USER') stage.user = rest;
  else if (name === 'STOPSIGNAL') stage.stopSignal = rest;
  else if (name === 'ENTRYPOINT') stage.entrypoint = JSON.parse(rest);
  else if (name === 'CMD') stage.command = JSON.parse(rest);
  else if (name === 'HEALTHCHECK') stage.healthcheck = JSON.parse(rest.slice(rest.indexOf('CMD') + 3));
  else if (name !== 'LABEL' && name !== 'EXPOSE') throw new Error(`${name}: not understood`);
}

async function copy(build: Build, stage: Stage, rest: string): Promise<void> {
  const words = rest.split(/\s+/);
  const other = words[0]?.startsWith('--from=') ? build.stages.get(words.shift()?.slice(7) ?? '') : undefined;
  const target = words.pop() ?? '';
  for (const word of words) {
    const source = join(other?.root ?? build.context, word);
    const into = join(stage.root, resolve(stage.workdir, target));
    const isFolder = (await stat(source)).isDirectory();
    await cp(source, isFolder || !target.endsWith('/') ? into : join(into, basename(word)), { recursive: true });
  }
}

async function run(stage: Stage, rest: string): Promise<void> {
  const command = rest.replaceAll(/--mount=type=cache,\S+\s+/g, '');
  await runTool('sh', ['-c', command], join(stage.root, stage.workdir), stage.env, asUser(stage.user));
}

/** Only root can run a process as another user, and only if that user may run this Node. */
export function asUser(user: string): { uid?: number; gid?: number } {
  const [uid = 0, gid = 0] = user === 'root' ? [] : user.split(':').map(Number);
  if (process.getuid?.() !== 0) return {};
  const tried = spawnSync(process.execPath, ['--version'], { uid, gid, cwd: '/' });
  return tried.status === 0 ? { uid, gid } : {};
}

function assignments(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]));
}

function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => values[name] ?? '');
}

/** Lets everybody read a folder and all below it, and only a `writable` one be written to by its owner. */
export async function makeReadable(folder: string, writable: boolean): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const mode = writable ? 0o755 : 0o555;
  await chmod(folder, mode);
  for (const entry of entries) if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), mode);
}
