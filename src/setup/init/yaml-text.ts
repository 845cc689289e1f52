const MAX_COMMENT = 200;

/**
 * Makes text from outside safe for a comment or a terminal: one bounded line without control and format characters, such as those
 * that change the direction of reading.
 */
export function oneLine(text: string): string {
  const line = text
    .slice(0, MAX_COMMENT * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\s]+/gu, ' ')
    .trim();
  return line.length > MAX_COMMENT ? `${line.slice(0, MAX_COMMENT).trimEnd()}…` : line;
}

/** Wraps a comment at about 120 characters. */
export function comment(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  // Longer than one line, unlike text from outside, which oneLine() bounds first.
  for (const word of text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').split(/ +/)) {
    if (line !== '' && indent.length + line.length + word.length > 115) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].filter((each) => each !== '').map((each) => `${indent}# ${each}`);
}

/** Texts that YAML reads as another type without quotes. */
const RESERVED = /^(?:null|true|false|yes|no|on|off|y|n)$/i;
const PLAIN = /^[A-Za-z_/][\w/.-]*$/;
/** A path or URL with references to the environment; plain in a block, not between brackets. */
const PLAIN_REFERENCE = /^(?=https?:|\/|\$)(?:[\w/.@-]|\$?\{\w+\}|:(?=[\d/]))+$/;

/** Returns a scalar. Text like a reference to the environment is escaped, so that it stays text. */
export function scalar(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  const text = escapeReferences(value);
  return PLAIN.test(text) && !RESERVED.test(text) ? text : quoted(text);
}

/** Returns a key, in which references to the environment have no effect. */
export function key(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : quoted(text);
}

/** Returns a scalar of a block that can contain references to the environment. */
export function referring(text: string): string {
  return PLAIN_REFERENCE.test(text) ? text : quoted(text);
}

/** Escapes references to the environment. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** JSON strings are YAML strings, except for characters that YAML does not print or that affect a terminal. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\ufffe\uffff]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Returns a block of scalars on one line. */
export function flow(entries: Readonly<Record<string, string | number | null>>): string {
  const pairs = Object.entries(entries).map(([name, value]) => `${key(name)}: ${scalar(value)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}
