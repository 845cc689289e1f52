import { z } from 'zod';
import type { ConfigIssue } from './config-error.ts';
import { scalarText } from './schema/scalars.ts';

/** Settings of a file, with the environment substituted. An alias shares the node of its anchor. */
export type SettingsNode = Leaf | Branch;

export interface Leaf {
  readonly kind: 'leaf';
  readonly offset: number;
  /** Value; `undefined` where it could not be had: defaults stand in. */
  readonly value: unknown;
  /** Text as written: `007` where the value is 7. */
  readonly text: string;
  readonly fromEnvironment: boolean;
}

export interface Branch {
  readonly kind: 'map' | 'list';
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface Entry {
  readonly offset: number;
  readonly node: SettingsNode;
}

type Path = ConfigIssue['path'];
type Schema = z.core.$ZodType;

/** Returns the node at `path`, if the file has one. */
export function nodeAt(root: SettingsNode, path: Path): SettingsNode | undefined {
  let node: SettingsNode | undefined = root;
  for (const step of path) {
    if (node === undefined || node.kind === 'leaf') return undefined;
    node = node.entries.get(String(step))?.node;
  }
  return node;
}

/** The place of an issue at `path`: the value, the key of a block, or the nearest key above what is missing. */
export function placeOf(root: SettingsNode, path: Path, key = false) {
  let node = root;
  let offset = 0;
  for (const [depth, step] of path.entries()) {
    const entry = node.kind === 'leaf' ? undefined : node.entries.get(String(step));
    if (entry === undefined) return { offset, missing: path.slice(depth) };
    offset = entry.offset;
    node = entry.node;
  }
  return { offset: node.kind === 'leaf' && !key ? node.offset : offset, missing: [] };
}

/** The plain value of a tree. Text of a header or query parameter stays as written: a key of digits is no number. */
export function treeValue(node: SettingsNode, schema: Schema | undefined): unknown {
  if (node.kind === 'leaf') {
    return isText(schema) && node.value !== undefined && node.text !== '' ? node.text : node.value;
  }
  const entries = node.entries
    .entries()
    .map(([key, child]) => [key, treeValue(child.node, childSchema(schema, key))] as const);
  return node.kind === 'map' ? Object.fromEntries(entries) : [...entries].map(([, value]) => value);
}

function isText(schema: Schema | undefined): boolean {
  return schema === scalarText || (schema instanceof z.ZodUnion && schema.options.some(isText));
}

/** Returns the schema of `key`, if it does not depend on other values. */
function childSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault) return childSchema(schema.unwrap(), key);
  if (schema instanceof z.ZodObject) return schema.shape[key];
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => childSchema(option, key) ?? [])[0];
  return schema instanceof z.ZodRecord ? schema.valueType : undefined;
}
