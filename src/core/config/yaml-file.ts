import { createReadStream } from 'node:fs';
import { type ErrorCode, LineCounter, parseDocument } from 'yaml';
import { ConfigError, type ConfigIssue } from './config-error.ts';

/** Line and column of an offset, both from 1. */
export type Position = (offset: number) => { readonly line: number; readonly column: number };

export type YamlDocument = ReturnType<typeof parseYaml>;

/** The parser's own messages quote text, which may be a secret. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'unknown escape: in double quotes a backslash is written \\\\, in single quotes as it is',
  BAD_INDENT: 'the indentation does not match the lines above',
  BAD_SCALAR_START: 'plain text cannot begin with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second key on one line, or deeper lines below a value: put text with a colon in quotes',
  MISSING_CHAR: 'a colon, comma, closing quote or closing bracket is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line: is a colon or a closing quote missing?',
  MULTIPLE_DOCS: 'a settings file is one document: remove the line ---',
  NON_STRING_KEY: 'a key must be plain text',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAB_AS_INDENT: 'indent with spaces: YAML does not allow tabs',
  TAG_RESOLVE_FAILED: 'unknown tag: put text that begins with ! in quotes',
  UNEXPECTED_TOKEN: 'not expected here: put text with special characters in quotes',
};

/** YAML 1.2 with its core schema, whatever a %YAML line says; keys are text; no merge keys. */
export function parseYaml(text: string) {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
    // Checked in build-tree.ts: here it takes quadratic time.
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
    const message = describe(code, text, pos[0]);
    if (!byLine.has(place.line)) byLine.set(place.line, { path: [], message, ...place });
  }
  // With any issue, the document cannot be used.
  return { document, position, issues: [...byLine.values()] };
}

const REFERENCE_IN_BRACKETS =
  'inside brackets, ${…} must be in quotes; a number, true or false needs a line of its own';

function describe(code: ErrorCode, text: string, offset: number): string {
  if (text.slice(offset - 1, offset + 1) === '${') return REFERENCE_IN_BRACKETS;
  return WORDS[code] ?? 'this is not YAML';
}

/** The largest wrong file is refused within some 0.3 s, in which the process answers no request. */
const MAX_BYTES = 262_144;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

/** Reads a settings file. Throws {@link ConfigError}. */
export async function readSettings(file: string): Promise<string> {
  const bytes = await readBytes(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, `cannot be read: ${REASONS[error.code ?? ''] ?? error.code ?? 'unknown reason'}`);
  });
  if (bytes.length > MAX_BYTES) throw unreadable(file, 'is larger than 256 KiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(file, 'is not UTF-8 text');
  }
}

/** Returns little more than allowed, so that an oversized file is noticed. */
async function readBytes(file: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(file)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BYTES) break;
  }
  return Buffer.concat(chunks);
}

function unreadable(file: string, message: string): ConfigError {
  return new ConfigError([{ path: [], message }], file);
}
