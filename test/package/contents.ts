import { basename, join } from 'node:path';
import { filesBelow } from '../support/process/files.ts';
import { ROOT } from './packed.ts';

/** What may be in each folder of the package, by the ends of names. Folders that are not here are not in it. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  config: ['.yaml', '.json'],
  'config/examples': ['.yaml'],
  'deploy/compose': ['.yaml'],
  'deploy/grafana': ['.json'],
  'deploy/helm': ['.yaml'],
  'deploy/helm/portico': ['.yaml', '.json'],
  'deploy/helm/portico/templates': ['.yaml', '.tpl'],
  'deploy/kubernetes': ['.yaml'],
  'deploy/prometheus': ['.yaml', '.yml'],
  'deploy/systemd': ['.yaml', '.service'],
  docs: ['.md'],
  'docs/decisions': ['.md'],
  'docs/images': ['.png', '.svg'],
};

const DOCUMENTS = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'];
const AT_THE_TOP = [...DOCUMENTS, 'npm-shrinkwrap.json', 'package.json'];

/** What is run, or imported, by its name (rolldown.config.mjs). */
const ENTRIES = ['gateway', 'main', 'portico', 'portico-testing', 'testing'];

/** Shared and lazily loaded chunks, and source maps: the bundler chooses their names. */
export const PART = /^dist\/(part-[a-z0-9-]+\.js|[a-z0-9-]+\.js\.map)$/;

/** What the package has to hold beside those, sorted: each file of those folders as it is, the types of each source, and the entries. */
export async function expectedFiles(): Promise<string[]> {
  const kept = Object.entries(FOLDERS).map(async ([folder, ends]) =>
    (await filesBelow(join(ROOT, folder)))
      .filter((file) => !file.includes('/') && ends.some((end) => file.endsWith(end)))
      .map((file) => `${folder}/${file}`),
  );
  const all = await filesBelow(join(ROOT, 'src'));
  const sources = all.filter((file) => file.endsWith('.ts'));
  const pages = all.filter((file) => /\.(?:css|html)$/.test(file)).map((file) => `dist/${basename(file)}`);
  const types = sources.map((file) => file.replace(/^(.+)\.ts$/, 'dist/$1.d.ts'));
  const entries = ENTRIES.map((name) => `dist/${name}.js`);
  return [...AT_THE_TOP, ...(await Promise.all(kept)).flat(), ...types, ...entries, ...pages].sort();
}
