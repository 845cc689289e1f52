import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './packed.ts';

/** What may be in each folder of the package, by the ends of names. Folders that are not here are not in it. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  config: ['.yaml', '.json'],
  'config/examples': ['.yaml'],
  docs: ['.md'],
  'docs/decisions': ['.md'],
};

const AT_THE_TOP = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'package.json'];

/** What the package has to hold, sorted: each file of those folders as it is, and each source as it was built. */
export function expectedFiles(): string[] {
  const kept = Object.entries(FOLDERS).flatMap(([folder, ends]) =>
    filesOf(folder).filter((file) => ends.some((end) => file.endsWith(end))),
  );
  const built = filesOf('src', true).flatMap((file) => {
    const name = file.replace(/^src\/(.+)\.ts$/, 'dist/$1');
    return [`${name}.d.ts`, `${name}.js`];
  });
  return [...AT_THE_TOP, ...kept, ...built].sort();
}

function filesOf(folder: string, recursive = false): string[] {
  return readdirSync(join(ROOT, folder), { recursive, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}
