import { join } from 'node:path';
import { filesBelow } from '../support/files.ts';
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

const AT_THE_TOP = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'package.json'];

/** What the package has to hold, sorted: each file of those folders as it is, and each source as it was built. */
export async function expectedFiles(): Promise<string[]> {
  const kept = Object.entries(FOLDERS).map(async ([folder, ends]) =>
    (await filesBelow(join(ROOT, folder)))
      .filter((file) => !file.includes('/') && ends.some((end) => file.endsWith(end)))
      .map((file) => `${folder}/${file}`),
  );
  const built = (await filesBelow(join(ROOT, 'src'))).flatMap((file) => {
    const name = file.replace(/^(.+)\.ts$/, 'dist/$1');
    return [`${name}.d.ts`, `${name}.js`];
  });
  return [...AT_THE_TOP, ...(await Promise.all(kept)).flat(), ...built].sort();
}
