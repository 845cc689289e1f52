import { isNode, Scalar, stringify } from 'yaml';
import { createSafeText } from '../probe/safe-text.ts';

const MAX_COMMENT = 200;

const visible = createSafeText([]);

/** Makes text from outside safe for a comment or a terminal: one bounded line of visible characters. */
export function oneLine(text: string): string {
  return visible(text.slice(0, MAX_COMMENT * 4), MAX_COMMENT).trim();
}

/** Returns the lines of a comment. Text from outside has passed {@link oneLine}. */
export function comment(...texts: readonly string[]): string[] {
  return texts.filter((text) => text !== '').map((text) => `# ${text}`);
}

/** Returns an entry of a block, with its value on one line as {@link inlineYaml}, and a comment behind it. */
export function entry(key: string, value: unknown, behind = ''): string {
  return `${plainYaml(key)}: ${inlineYaml(value)}${behind === '' ? '' : ` # ${oneLine(behind)}`}`;
}

/** Returns the lines of a block below its key; `{}` if there are none. */
export function block(key: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [entry(key, {})] : [`${plainYaml(key)}:`, ...lines.map((line) => `  ${line}`)];
}

function plainYaml(key: string): string {
  return inlineYaml(referring(key, false));
}

/** Returns a value as YAML on one line. References to the environment are escaped, except in nodes. */
function inlineYaml(value: unknown): string {
  return stringify(escaped(value), { collectionStyle: 'flow', lineWidth: 0, blockQuote: false }).trimEnd();
}

/** Returns a text with references to the environment, in quotes if the value could be read as another type. */
export function referring(text: string, inQuotes = true): Scalar {
  return Object.assign(new Scalar(text), inQuotes && { type: Scalar.QUOTE_DOUBLE });
}

/** Escapes references to the environment, so that text from outside stays text. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Escapes references in the texts of a value, but not in keys, which are not replaced. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeReferences(value);
  if (typeof value !== 'object' || value === null || isNode(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)]));
}
