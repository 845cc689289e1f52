import { Document, isNode, Pair, Scalar, stringify, YAMLMap } from 'yaml';

const MAX_COMMENT = 200;
const WIDTH = 110;

/** Control and format characters, which affect a terminal or the direction of reading, and line ends. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\s]+/gu;

/** Makes text from outside safe for a comment or a terminal: one bounded line of visible characters. */
export function oneLine(text: string): string {
  const line = text
    .slice(0, MAX_COMMENT * 4)
    .replace(UNSAFE, ' ')
    .trim();
  return line.length > MAX_COMMENT ? `${line.slice(0, MAX_COMMENT).trimEnd()}…` : line;
}

/** Returns the lines of a comment. Text from outside has passed {@link oneLine}. */
export function commentLines(text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.replace(UNSAFE, ' ').split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > WIDTH && lines.at(-1) !== '') lines.push(` ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.filter((line) => line.trim() !== '');
}

/** Escapes references to the environment, so that text from outside stays text. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** An entry of a YAML block. */
export interface Entry {
  readonly key: string;
  /** A node, or a value whose references to the environment are escaped. */
  readonly value: unknown;
  /** Sentences before the entry. */
  readonly before?: readonly string[];
  /** A comment behind the value. */
  readonly behind?: string;
}

const NODES = new Document();

/** Builds a YAML block with comments. Values that are not blocks are written on one line. */
export function yamlBlock(entries: readonly Entry[]): YAMLMap {
  const map = new YAMLMap();
  for (const { key, value, before = [], behind } of entries) {
    const name = new Scalar(key);
    if (before.length > 0) name.commentBefore = before.flatMap(commentLines).join('\n');
    const node = isNode(value) ? value : NODES.createNode(escaped(value), { flow: true });
    if (behind !== undefined) node.comment = ` ${oneLine(behind)}`;
    map.add(new Pair(name, node));
  }
  return map;
}

/** Returns a text with references to the environment. In quotes, so that it stays a text. */
export function referring(text: string): Scalar {
  return Object.assign(new Scalar(text), { type: Scalar.QUOTE_DOUBLE });
}

/** Returns a path or URL with references to the environment. */
export function plainText(text: string): Scalar {
  return new Scalar(text);
}

/** Returns a value as YAML on one line. References to the environment are escaped. */
export function inlineYaml(value: unknown): string {
  return stringify(escaped(value), { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}

/** Escapes references to the environment in the texts of a value, but not in keys, which are not replaced. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeReferences(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)]));
}
