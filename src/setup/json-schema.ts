import { z } from 'zod';
import { settingsSchema } from '../core/config/schema/settings.ts';
import type { SettingsSlice } from '../core/config/settings-slice.ts';
import { RESOURCES } from '../core/resources/index.ts';
import type { Resource } from '../core/resources/resource.ts';

type JsonSchema = Record<string, unknown>;

const REFERENCE: JsonSchema = { $ref: '#/$defs/environment' };

/** Keywords that text such as `${PORT}` violates. */
const NARROW = ['const', 'enum', 'format', 'pattern'];

/** Settings as JSON Schema (draft 2020-12), which is `config/schema.json`. Rules that span several keys are not in it. */
export function settingsJsonSchema(
  resources: readonly Resource[] = RESOURCES,
  slices?: readonly SettingsSlice[],
): string {
  const { $schema, $defs, ...root } = z.toJSONSchema(settingsSchema(resources, slices), {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema, path }) => {
      if (path.at(-1) !== 'propertyNames') allowReference(jsonSchema as JsonSchema);
    },
  });
  const environment = {
    description: `Taken from the environment: \${NAME}, or \${NAME:-default} where it may be unset.`,
    type: 'string',
    pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\\}',
  };
  const schema = {
    $schema,
    $id: 'urn:portico:settings',
    title: 'Portico settings',
    ...root,
    $defs: { ...$defs, environment },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Changes a schema in place, so that text such as `${PORT}` fits it, too. */
function allowReference(schema: JsonSchema): void {
  const { description: _, default: __, oneOf, ...own } = schema;
  // With a reference for its kind, a block fits several options: so any of them, not one.
  if (oneOf !== undefined) {
    delete schema['oneOf'];
    schema['anyOf'] = oneOf;
  }
  if (!isNarrow(own)) return;
  for (const keyword of Object.keys(own)) delete schema[keyword];
  schema['anyOf'] = [own, REFERENCE];
}

function isNarrow(schema: JsonSchema): boolean {
  return (
    ['integer', 'number', 'boolean'].includes(String(schema['type'])) || NARROW.some((keyword) => keyword in schema)
  );
}
