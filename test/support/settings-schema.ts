import { readFileSync } from 'node:fs';

export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

export const SCHEMA: Schema = JSON.parse(readFileSync('config/schema.json', 'utf8'));

/** Whether settings can have a path. `<name>` stands for any name. */
export function exists(schema: Schema, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const { properties = {}, additionalProperties, anyOf = [], $ref = '' } = schema;
  const children = name.startsWith('<')
    ? Object.values(properties)
    : [properties[name] ?? {}].filter(() => name in properties);
  const other = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return (
    [...children, ...other].some((child) => exists(child, rest)) ||
    [...anyOf, ...definedAs($ref)].some((variant) => exists(variant, [name, ...rest]))
  );
}

function definedAs(ref: string): Schema[] {
  return [SCHEMA.$defs?.[ref.replace('#/$defs/', '')] ?? []].flat();
}
