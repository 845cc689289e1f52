import {
  type Alias,
  type Document,
  type ErrorCode,
  isAlias,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { ConfigError, type ConfigIssue, type Finding } from './config-error.ts';
import type { Substitute } from './environment.ts';

type Path = ConfigIssue['path'];
type Ancestors = readonly (Document | Node | Pair)[];

/** YAML 1.2 with its core schema, whatever a %YAML line says; keys are text; no merge keys. */
const YAML = {
  ...{ schema: 'core', prettyErrors: false, resolveKnownTags: false, stringKeys: true },
  // Checked by `indexKeys`, because yaml compares all pairs of keys.
  uniqueKeys: false,
} as const;

/** Remedies for errors whose messages only name the rule of YAML. */
const HINTS: { readonly [Code in ErrorCode]?: string } = {
  BAD_SCALAR_START: ': put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: ': the line below is indented too far, or a text with a colon is not in quotes',
  BLOCK_IN_FLOW: ': a comma is missing, or a text with a colon is not in quotes',
  MULTILINE_IMPLICIT_KEY: ': a key needs a colon and a space after it',
  UNEXPECTED_TOKEN: ': a text with a sign of YAML, such as { or ", must be in quotes as a whole',
};

/** The end of yaml's messages that is text of the file, which may be a secret, or advice for programmers. */
const QUOTED_TEXT = /(?:(?<=characters|document|escape sequence|tag|token):?|;) .*$/s;

/** Parses settings, and substitutes the environment in their values. Throws {@link ConfigError} for text that is not YAML. */
export function parseSettingsText(text: string, file: string, substitute: Substitute) {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { ...YAML, lineCounter });
  const issues: ConfigIssue[] = [];
  const fromEnvironment = new Set<unknown>();
  const unresolved = new Set<unknown>();
  const maps = new Map<unknown, ReadonlyMap<string, Pair>>();

  function positionOf(offset: number) {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  }

  function report(node: Node, ancestors: Ancestors, message: string): void {
    issues.push({ path: pathOf([...ancestors, node]), message, ...positionOf(startOf(node)) });
  }

  function resolveScalar(node: Scalar, ancestors: Ancestors): void {
    const source = node.source ?? '';
    const { text: resolved, fromEnvironment: isSubstituted, issues: found } = substitute(source);
    for (const message of found) report(node, ancestors, message);
    if (isSubstituted) fromEnvironment.add(node);
    if (found.length > 0) {
      unresolved.add(node);
      node.value = undefined;
    } else if (source !== '' && isSentAsWritten(ancestors)) {
      node.value = resolved;
    } else if (resolved !== source) {
      node.value = node.type === 'PLAIN' && node.tag === undefined ? plainValue(resolved) : resolved;
    }
  }

  function indexKeys(map: YAMLMap, ancestors: Ancestors): void {
    const entries = new Map<string, Pair>();
    for (const pair of map.items as Pair<Scalar>[]) {
      const name = nameOf(pair);
      const refuse = (message: string) => report(pair.key, [...ancestors, map, pair], message);
      if (entries.has(name)) refuse('Duplicate key');
      if (name === '<<') refuse('Merge keys are not part of YAML 1.2: write the keys out');
      if (name.includes('${')) refuse('Only values are taken from the environment');
      entries.set(name, pair);
    }
    maps.set(map, entries);
  }

  function checkAlias(node: Alias, ancestors: Ancestors): void {
    const target = node.resolve(document);
    if (target !== undefined && !ancestors.includes(target)) return;
    report(node, ancestors, 'Unresolved alias: its anchor must be set above');
  }

  const tags = document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED');
  for (const [index, { message, pos, code }] of [...document.errors, ...tags].entries()) {
    // Once the structure is lost, each line below is one.
    if (code === 'UNEXPECTED_TOKEN' && index > 0) continue;
    const isReference = text.slice(pos[0] - 1, pos[0] + 1) === '${';
    const hint = isReference ? ': inside brackets, ${…} must be in quotes' : (HINTS[code] ?? '');
    issues.push({ path: [], message: message.replace(QUOTED_TEXT, '') + hint, ...positionOf(pos[0]) });
  }
  if (issues.length > 0) throw new ConfigError(firstOfEachLine(issues), file);
  visit(document, {
    Map: (_key, node, ancestors) => indexKeys(node, ancestors),
    Alias: (_key, node, ancestors) => checkAlias(node, ancestors),
  });
  if (issues.length > 0) throw new ConfigError(issues, file);
  visit(document, { Scalar: (key, node, ancestors) => (key === 'key' ? undefined : resolveScalar(node, ancestors)) });

  function entryAt(path: Path): Entry | undefined {
    let entry: Entry | undefined = { key: document.contents, value: document.contents };
    for (const step of path) {
      const node: unknown = isAlias(entry?.value) ? entry.value.resolve(document) : entry?.value;
      const item = isSeq(node) ? node.items[Number(step)] : undefined;
      entry = item === undefined ? maps.get(node)?.get(String(step)) : { key: item, value: item };
    }
    return entry;
  }

  /** Returns the position of a value, of the key of a block, or of the nearest key above what is missing. */
  function placeOf(path: Path, isKey: boolean) {
    const depth = path.findLastIndex((_step, index) => entryAt(path.slice(0, index + 1)) !== undefined) + 1;
    const { key, value } = entryAt(path.slice(0, depth)) ?? {};
    const isValue = depth === path.length && !isKey && isScalar(value);
    return positionOf(depth === 0 && !isValue ? 0 : startOf(isValue ? value : key));
  }

  return {
    /** Variables of the environment that are missing, or not written as they must be. */
    issues,
    /** Settings as plain values. Throws {@link ConfigError}. */
    value(): unknown {
      try {
        return document.toJS();
      } catch {
        throw new ConfigError([...issues, { path: [], message: 'Too many aliases, or nested too deeply' }], file);
      }
    },
    isWritten: (path: Path) => entryAt(path) !== undefined,
    isFromEnvironment: (path: Path) => fromEnvironment.has(entryAt(path)?.value),
    /** Returns findings with their place: the first of each setting, which an alias can repeat, and none of an unresolved value. */
    placed(findings: readonly Finding[]): ConfigIssue[] {
      const issues = new Map<string, ConfigIssue>();
      for (const { path, message, key = false } of findings) {
        const { value } = entryAt(path) ?? {};
        if (unresolved.has(value)) continue;
        const place = placeOf(path, key);
        const name = JSON.stringify([place, String(path.at(-1))]);
        const source = fromEnvironment.has(value) ? ' (the value is from the environment)' : '';
        if (!issues.has(name)) issues.set(name, { path, message: message + source, ...place });
      }
      return [...issues.values()];
    },
  };
}

interface Entry {
  readonly key: unknown;
  readonly value: unknown;
}

function nameOf({ key }: Pair<Scalar>): string {
  return String(key.value);
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function pathOf(nodes: Ancestors): Path {
  return nodes.flatMap((node, index): Path => {
    if (isPair(node)) return [nameOf(node as Pair<Scalar>)];
    return isSeq(node) && index + 1 < nodes.length ? [node.items.indexOf(nodes[index + 1])] : [];
  });
}

/** Whether a value is sent as it is written: a header or query parameter of digits is not a number. */
function isSentAsWritten(ancestors: Ancestors): boolean {
  const [block, , ...keys] = ancestors.flatMap((node) => (isPair(node) ? nameOf(node as Pair<Scalar>) : []));
  if (block === 'upstreams') return keys[0] === 'headers';
  // Its own query, or that of its parents or lists.
  return block === 'resources' && (keys[0] === 'each' || keys[0] === 'lists' ? keys[1] : keys[0]) === 'query';
}

/** Returns the value that the same text has in a file without quotes: a number, boolean, null or text. */
export function plainValue(text: string): unknown {
  const { contents, errors } = parseDocument(text, YAML);
  const isPlain = errors.length === 0 && isScalar(contents) && contents.type === 'PLAIN' && contents.source === text;
  return isPlain ? contents.value : text;
}

function firstOfEachLine(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return [...new Map(issues.toReversed().map((issue) => [issue.line, issue])).values()];
}
