import { isAlias, isMap, isScalar, type ParsedNode, type Scalar, type Schema, type YAMLMap, type YAMLSeq } from 'yaml';
import type { ConfigIssue } from './config-error.ts';
import type { Substitute } from './environment.ts';
import type { Entry, Leaf, SettingsNode } from './settings-tree.ts';
import type { YamlDocument } from './yaml-file.ts';

type Path = ConfigIssue['path'];
type Entries = Map<string, Entry>;

/** Turns a document into settings, and adds issues. Linear in the file. */
export function buildTree(yaml: YamlDocument, substitute: Substitute, issues: ConfigIssue[]): SettingsNode {
  const { contents, schema } = yaml.document;
  const anchors = new Map<string, SettingsNode>();

  const report = (path: Path, offset: number, message: string): void => {
    issues.push({ path, message, ...yaml.position(offset) });
  };

  const refuse = (path: Path, offset: number, message: string): Leaf => {
    report(path, offset, message);
    return { ...emptyLeaf(offset), value: undefined };
  };

  const leaf = (node: Scalar.Parsed, path: Path): Leaf => {
    const [offset] = node.range;
    const { text, fromEnvironment, issues: found } = substitute(node.source);
    for (const message of found) report(path, offset, message);
    if (found.length > 0) return { ...emptyLeaf(offset), value: undefined };
    const plain = node.type === 'PLAIN' && node.tag === undefined;
    const put = plain ? coreScalar(text, schema) : text;
    return { ...emptyLeaf(offset), value: text === node.source ? node.value : put, text, fromEnvironment };
  };

  const map = (node: YAMLMap.Parsed, path: Path): Entries => {
    const entries: Entries = new Map();
    for (const { key, value } of node.items) {
      // Always a scalar: the parser refuses other keys.
      const name = String((key as Scalar.Parsed).value);
      const [offset] = key.range;
      const place = [...path, name];
      const first = entries.get(name);
      if (first !== undefined) {
        report(place, offset, `is a duplicate key: first set on line ${yaml.position(first.offset).line}`);
        continue;
      }
      if (name === '<<') {
        report(place, offset, 'is a merge key, which YAML 1.2 does not have: write the keys out');
        continue;
      }
      if (name.includes('${')) report(place, offset, 'is a key: only values take text from the environment');
      entries.set(name, { offset, node: value === null ? emptyLeaf(offset) : build(value, place) });
    }
    return entries;
  };

  const list = (node: YAMLSeq.Parsed, path: Path): Entries =>
    new Map(
      node.items.map((item, index) => [String(index), { offset: item.range[0], node: build(item, [...path, index]) }]),
    );

  const build = (node: ParsedNode, path: Path): SettingsNode => {
    const [offset] = node.range;
    if (isAlias(node)) return anchors.get(node.source) ?? refuse(path, offset, 'is an alias of nothing above');
    const built = isScalar(node)
      ? leaf(node, path)
      : isMap(node)
        ? { kind: 'map' as const, entries: map(node, path) }
        : { kind: 'list' as const, entries: list(node, path) };
    if (node.anchor !== undefined) anchors.set(node.anchor, built);
    return built;
  };

  return contents === null ? emptyLeaf(0) : build(contents, []);
}

function emptyLeaf(offset: number): Leaf {
  return { kind: 'leaf', offset, value: null, text: '', fromEnvironment: false };
}

/** What plain text is under `schema`: a number, boolean, null or text, never a list or a block. Empty text stays text. */
export function coreScalar(text: string, schema: Schema): unknown {
  if (text === '') return text;
  for (const tag of schema.tags) {
    if (tag.collection !== undefined || tag.default !== true || tag.test?.test(text) !== true) continue;
    const resolved = tag.resolve(text, () => {}, {});
    return isScalar(resolved) ? resolved.value : resolved;
  }
  return text;
}
