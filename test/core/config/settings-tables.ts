import type { Setting, SettingSchema } from './settings-list.ts';

/** The rows that `docs/configuration.md` has for each block. */
export function tablesOf(settings: readonly Setting[]): Map<string, string[]> {
  const blocks = Map.groupBy(settings, ({ block }) => block);
  return new Map(
    blocks.entries().map(([block, inBlock]) => {
      const keys = Map.groupBy(inBlock, ({ key }) => key);
      return [block === '' ? 'top level' : block, keys.values().map(row).toArray()];
    }),
  );
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
