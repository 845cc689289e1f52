import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listen } from '../support/listening.ts';
import { newFolder } from '../support/process/process.ts';
import { runTool } from '../support/tools.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a fresh clone does not have: all the rest is copied, so that only `files` keeps it out of the package. */
const NOT_CLONED = /^(\.git|node_modules|dist|coverage|[^/]+\.(tgz|mcpb))$/;

export interface Packed {
  /** What it was made of: the folder of a clone, with the packages of this one. */
  readonly clone: string;
  readonly tarball: string;
  readonly files: readonly string[];
}

export function cloneTo(folder: string): Promise<void> {
  return cp(ROOT, folder, { recursive: true, filter: (source) => !NOT_CLONED.test(relative(ROOT, source)) });
}

let packed: Promise<Packed> | undefined;

/** Packs what a fresh clone would hold, once for all files of a run. To be called in a `before` hook. */
export function pack(): Promise<Packed> {
  packed ??= packClone();
  return packed;
}

async function packClone(): Promise<Packed> {
  const folder = await newFolder();
  const clone = join(folder, 'clone');
  await cloneTo(clone);
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const said = await runTool('npm', ['pack', '--json', '--pack-destination', folder], clone);
  const [{ filename, files }] = JSON.parse(said.slice(said.indexOf('[\n')));
  const paths: string[] = files.map(({ path }: { path: string }) => path);
  return { clone, tarball: join(folder, filename), files: paths.sort() };
}

/** Starts a registry that has this package as a registry describes one with a shrinkwrap, and redirects to npm's for all others. */
export async function startRegistry({ clone, tarball }: Packed): Promise<string> {
  const npms = (await runTool('npm', ['config', 'get', 'registry'], clone)).trim();
  const manifest = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8'));
  const content = await readFile(tarball);
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const server = createServer((request, response) => {
    if (request.url === '/portico.tgz') return response.end(content);
    if (request.url !== '/portico')
      return response.writeHead(302, { location: new URL(`.${request.url}`, npms).href }).end();
    const dist = { tarball: `http://${request.headers.host}/portico.tgz`, integrity };
    const versions = { [manifest.version]: { ...manifest, _hasShrinkwrap: true, dist } };
    return response.end(JSON.stringify({ name: 'portico', 'dist-tags': { latest: manifest.version }, versions }));
  });
  const { url } = await listen(server);
  return url;
}

export async function installIn(project: string, packages: readonly string[], env = {}): Promise<void> {
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'package.json'), '{ "private": true }');
  await runTool('npm', ['install', ...packages, '--no-audit', '--no-fund'], project, env);
}

/** `name@range` for each of these, as new as here. */
export async function asNewAsHere(names: readonly string[]): Promise<string[]> {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  return names.map((name) => (name in devDependencies ? `${name}@${devDependencies[name]}` : name));
}
