import { z } from 'zod';
import { scalarText } from './schema/scalars.ts';
import type { SettingsNode } from './settings-tree.ts';

type Schema = z.core.$ZodType;

/**
 * The plain value of a tree. Where `schema` has the text of a header or a query parameter, it is the text as written:
 * a key of digits only must not be sent as the number that YAML makes of it.
 */
export function treeValue(node: SettingsNode, schema: Schema | undefined): unknown {
  if (node.kind === 'leaf') {
    return schema === scalarText && node.value !== undefined && node.text !== '' ? node.text : node.value;
  }
  const entries = node.entries
    .entries()
    .map(([key, child]) => [key, treeValue(child.node, childSchema(schema, key))] as const);
  return node.kind === 'map' ? Object.fromEntries(entries) : [...entries].map(([, value]) => value);
}

/** The schema of `key`, where it does not depend on what else stands in the file. */
function childSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema instanceof z.ZodPrefault) return childSchema(schema.unwrap(), key);
  if (schema instanceof z.ZodObject) return schema.shape[key];
  return schema instanceof z.ZodRecord ? schema.valueType : undefined;
}
