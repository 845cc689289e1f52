import { z } from 'zod';
import { settingsSchema } from '../core/config/schema/settings.ts';
import type { SettingsSlice } from '../core/config/settings-slice.ts';
import { RESOURCES } from '../core/resources/index.ts';
import type { Resource } from '../core/resources/resource.ts';

interface JsonSchema {
  [keyword: string]: unknown;
  description?: string;
  default?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
}

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
  });
  const schema = {
    $schema,
    $id: 'urn:portico:settings',
    title: 'Portico settings',
    ...widen(root as JsonSchema),
    $defs: {
      ...widenAll($defs as Record<string, JsonSchema>),
      environment: {
        description: `Taken from the environment: \${NAME}, or \${NAME:-default} where it may be unset.`,
        type: 'string',
        pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\\}',
      },
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function widenAll(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, widen(schema)]));
}

function widen({ description, default: value, ...schema }: JsonSchema): JsonSchema {
  const about = { ...(description !== undefined && { description }), ...(value !== undefined && { default: value }) };
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) {
    // With a reference for its kind, a block fits several options: so any of them, not one.
    const scalars = options.some(isNarrow) ? [REFERENCE] : [];
    return { ...about, anyOf: [...options.map((option) => (isNarrow(option) ? option : widen(option))), ...scalars] };
  }
  if (isNarrow(schema)) return { ...about, anyOf: [schema, REFERENCE] };
  const { properties, additionalProperties, items } = schema;
  return {
    ...about,
    ...schema,
    ...(properties !== undefined && { properties: widenAll(properties) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: widen(additionalProperties) }),
    ...(items !== undefined && { items: widen(items) }),
  };
}

function isNarrow(schema: JsonSchema): boolean {
  return (
    ['integer', 'number', 'boolean'].includes(String(schema['type'])) || NARROW.some((keyword) => keyword in schema)
  );
}
