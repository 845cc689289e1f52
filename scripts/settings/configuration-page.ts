import { readFileSync } from 'node:fs';
import { type Setting, type SettingSchema, settingsOf, settingsSchemaOf } from './setting-list.ts';

const TEMPLATE = new URL('./configuration.template.md', import.meta.url);
const HEAD = '| Key | Value | Default | Meaning |\n|---|---|---|---|';

/**
 * The text of `docs/configuration.md`: the template as far as its first heading of a block, then a table for each block. Text
 * that the template has under the heading of a block is put above its table. Throws where it has a block that is gone.
 */
export function configurationPage(): string {
  const [preface = '', ...sections] = readFileSync(TEMPLATE, 'utf8').split(/^(?=### (?:`|top level))/m);
  const notes = new Map(sections.map((section) => [section.slice(0, section.indexOf('\n')), section.trim()]));
  const tables = Map.groupBy(settingsOf(settingsSchemaOf()), ({ block }) => block);
  const blocks = tables.entries().map(([block, settings]) => {
    const title = heading(block);
    const above = notes.get(title) ?? title;
    notes.delete(title);
    const keys = Map.groupBy(settings, ({ key }) => key);
    return `${above}\n\n${HEAD}\n${keys.values().map(row).toArray().join('\n')}\n`;
  });
  const page = `${preface}${blocks.toArray().join('\n')}`;
  if (notes.size > 0) throw new Error(`the template describes what is no block: ${[...notes.keys()].join(', ')}`);
  return page;
}

function heading(block: string): string {
  if (block === '') return '### top level';
  const [path, kind] = block.split(' of kind ');
  return kind === undefined ? `### \`${path}\`` : `### \`${path}\` of kind \`${kind}\``;
}

/** One key, with all resources or fields that have it. */
function row(settings: Setting[]): string {
  const [{ block, key, schema } = { block: '', key: '', schema: {} }] = settings;
  const meaning = block.endsWith('.fields') ? `In ${settings.map(({ of }) => of).join(', ')}.` : schema.description;
  return `| \`${key}\` | ${valuesOf(schema, key)} | ${defaults(settings)} | ${meaning} |`;
}

function valuesOf({ anyOf, ...schema }: SettingSchema, key: string): string {
  const options = anyOf
    ?.filter(({ $ref }) => $ref === undefined)
    .map((option) => valuesOf({ ...schema, ...option }, key));
  if (options !== undefined) return [...new Set(options)].join(' or ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  switch (schema.type) {
    case 'number':
    case 'integer':
      return `${schema.minimum} to ${schema.maximum}${unit(key)}`;
    case 'boolean':
      return '`true` or `false`';
    case 'null':
      return '`null`';
    case 'array':
      return schema.items?.anyOf === undefined ? 'list of text' : `list of ${valuesOf(schema.items, key)}`;
    case 'string':
      return schema.description?.includes('JMESPath') === true ? 'expression' : 'text';
    default:
      return schema.additionalProperties ? 'entries by name' : 'block';
  }
}

function unit(key: string): string {
  if (key.endsWith('Ms')) return ' ms';
  return key.endsWith('Bytes') ? ' bytes' : '';
}

/** The default of all: a pattern where it goes by their names, else that of most, and which of the others have which. */
function defaults(settings: readonly Setting[]): string {
  const patterns = new Set(
    settings.map((setting) => defaultOf(setting, setting.block.endsWith('<field>') ? '<field>' : '<name>')),
  );
  if (patterns.size === 1) return [...patterns].join();
  const groups = Map.groupBy(settings, (setting) => defaultOf(setting, setting.of));
  const [[most = ''] = [], ...others] = [...groups].sort(([, a], [, b]) => b.length - a.length);
  return [most, ...others.map(([value, of]) => `${value} for ${of.map((setting) => setting.of).join(', ')}`)].join(
    '; ',
  );
}

function defaultOf({ schema, required, of }: Setting, name: string): string {
  if (required) return 'required';
  const value = schema.default;
  if (value === undefined) return 'unset';
  if (typeof value === 'string') {
    return `\`${(of === '' ? value : value.replace(new RegExp(`(^|/)${of}$`), `$1${name}`)) || '""'}\``;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `\`${JSON.stringify(value)}\``;
  const entries = Object.entries(value).map(([key, text]) => `${key}: ${text}`);
  if (entries.length > 0) return `\`${entries.join(', ')}\``;
  return typeof schema.additionalProperties === 'object' ? '`{}`' : 'as below';
}
