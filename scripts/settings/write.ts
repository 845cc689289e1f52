import { readFileSync, writeFileSync } from 'node:fs';
import { SLICES } from '../../src/composition.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { settingsJsonSchema } from '../../src/setup/json-schema.ts';
import { configurationPage } from './configuration-page.ts';
import { defaultYaml } from './default-yaml.ts';
import { referencePage } from './reference-page.ts';

/** What is generated from the sources, by its file. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  'config/schema.json': () => settingsJsonSchema(RESOURCES, SLICES),
  'config/default.yaml': defaultYaml,
  'docs/configuration.md': configurationPage,
  'docs/reference.md': referencePage,
};

/** Files that `npm run settings` would change. */
export function staleFiles(): string[] {
  return Object.entries(GENERATED).flatMap(([file, text]) => (readFileSync(file, 'utf8') === text() ? [] : [file]));
}

if (import.meta.main) for (const [file, text] of Object.entries(GENERATED)) writeFileSync(file, text());
