/**
 * Writes npm-shrinkwrap.json for the package: package-lock.json without what only development needs, so that an installation
 * from a registry has the versions that the tests ran with. With development's packages in it, npm would install them, too.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
const { devDependencies: _, ...own } = lock.packages[''];
const needed = Object.entries<{ dev?: boolean }>(lock.packages).filter(([, { dev }]) => dev !== true);
const packages = { ...Object.fromEntries(needed), '': own };
writeFileSync(new URL('npm-shrinkwrap.json', root), `${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`);
