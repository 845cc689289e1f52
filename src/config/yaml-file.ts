import { open } from 'node:fs/promises';
import { type Document, type ErrorCode, LineCounter, parseDocument } from 'yaml';
import { ConfigError, type ConfigIssue } from './config-error.ts';

/** Line and column of an offset, both from 1. */
export type Position = (offset: number) => { readonly line: number; readonly column: number };

export interface YamlDocument {
  readonly document: Document.Parsed;
  readonly position: Position;
  /** What is not YAML, the first issue of each line. With any, the document is not to be relied on. */
  readonly issues: readonly ConfigIssue[];
}

/** The parser's own messages are jargon, and some quote the text, which may be a secret. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'unknown escape: in double quotes a backslash is written \\\\, in single quotes as it is',
  BAD_INDENT: 'the indentation does not fit the lines above',
  BAD_SCALAR_START: 'plain text cannot begin with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second key on one line, or deeper lines below a value: put text with a colon in quotes',
  MISSING_CHAR: 'a colon, comma, closing quote or closing bracket is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line: is a colon or a closing quote missing?',
  MULTIPLE_DOCS: 'a settings file is one document: take out the line ---',
  NON_STRING_KEY: 'a key must be plain text',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAB_AS_INDENT: 'indent with spaces: YAML takes no tabs',
  TAG_RESOLVE_FAILED: 'unknown tag: put text that begins with ! in quotes',
  UNEXPECTED_TOKEN: 'not expected here: put text with special characters in quotes',
};

/** YAML 1.2 with its core schema, whatever a %YAML line says; keys are text; no merge keys. */
export function parseYaml(text: string): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
    // Looked for in build-tree.ts: here it takes quadratic time.
    uniqueKeys: false,
  });
  const position: Position = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const problems = [...document.errors, ...document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED')];
  const byLine = new Map<number, ConfigIssue>();
  for (const { code, pos } of problems) {
    const place = position(pos[0]);
    if (!byLine.has(place.line)) byLine.set(place.line, { path: [], message: describe(code, text, pos[0]), ...place });
  }
  return { document, position, issues: [...byLine.values()] };
}

function describe(code: ErrorCode, text: string, offset: number): string {
  if (text.slice(offset - 1, offset + 1) === '${') return `between brackets, \${…} must stand in quotes`;
  return WORDS[code] ?? 'this is not YAML';
}

const MAX_BYTES = 1_048_576;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
};

/** The text of a settings file: UTF-8, at most 1 MiB. Throws {@link ConfigError}. Pipes may be read too. */
export async function readSettings(file: string): Promise<string> {
  const bytes = await readBytes(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, `cannot be read: ${REASONS[error.code ?? ''] ?? error.code ?? 'unknown reason'}`);
  });
  if (bytes.length > MAX_BYTES) throw unreadable(file, 'is larger than 1 MiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(file, 'is not UTF-8 text');
  }
}

/** One byte more than allowed at most, so that the caller sees that there is more. */
async function readBytes(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await handle.close();
  }
}

function unreadable(file: string, message: string): ConfigError {
  return new ConfigError([{ path: [], message }], file);
}
