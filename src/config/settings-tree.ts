import type { Mistake } from './config-error.ts';

/** Settings as they stand in a file, with the environment put in. An alias shares the node of its anchor. */
export type SettingsNode = Leaf | Branch;

export interface Leaf {
  readonly kind: 'leaf';
  readonly size: 1;
  readonly offset: number;
  /** `undefined` where it could not be had: defaults stand in while the rest is checked. */
  readonly value: unknown;
  /** As written, with the environment put in: `007` where the value is 7. */
  readonly text: string;
  readonly fromEnvironment: boolean;
}

export interface Branch {
  readonly kind: 'map' | 'list';
  /** Nodes in it, itself included, as often as aliases repeat them. */
  readonly size: number;
  /** By key, or by position in a list. */
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface Entry {
  /** Of the key, or of the element of a list. */
  readonly offset: number;
  readonly node: SettingsNode;
}

type Path = Mistake['path'];

/** The node at `path`, if it stands in the file. */
export function nodeAt(root: SettingsNode, path: Path): SettingsNode | undefined {
  let node: SettingsNode | undefined = root;
  for (const step of path) {
    if (node === undefined || node.kind === 'leaf') return undefined;
    node = node.entries.get(String(step))?.node;
  }
  return node;
}

/** Where to look for what is wrong at `path`: the value, the key of a block, or the nearest key above what is missing. */
export function offsetOf(root: SettingsNode, path: Path, key: boolean): number {
  let node = root;
  let offset = 0;
  for (const step of path) {
    const entry = node.kind === 'leaf' ? undefined : node.entries.get(String(step));
    if (entry === undefined) return offset;
    offset = entry.offset;
    node = entry.node;
  }
  return node.kind === 'leaf' && !key ? node.offset : offset;
}
