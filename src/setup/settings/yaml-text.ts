const MAX_COMMENT = 200;

/**
 * Text from outside as it may stand in a comment or on a terminal: one line, nothing that a terminal obeys or that
 * changes the direction of reading, and not too much of it.
 */
export function oneLine(text: string): string {
  const line = text
    .slice(0, MAX_COMMENT * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\s]+/gu, ' ')
    .trim();
  return line.length > MAX_COMMENT ? `${line.slice(0, MAX_COMMENT).trimEnd()}…` : line;
}

/** Lines of a comment, none much wider than 120 characters. */
export function comment(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of oneLines(text)) {
    if (line !== '' && indent.length + line.length + word.length > 115) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].filter((each) => each !== '').map((each) => `${indent}# ${each}`);
}

/** Sentences of ours may be long; text from outside has gone through {@link oneLine} when it is put into one. */
function oneLines(text: string): string[] {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').split(/ +/);
}

/** Text that is YAML's own, and so no text, without quotes. */
const OWN = /^(?:null|true|false|yes|no|on|off|y|n)$/i;
const PLAIN = /^[A-Za-z_/][\w/.-]*$/;
/** With references to the environment in it: a path, or a URL. In a block, not between brackets. */
const PLAIN_REFERENCE = /^(?=https?:|\/|\$)(?:[\w/.@-]|\$?\{\w+\}|:(?=[\d/]))+$/;

/** A scalar. What reads like a reference to the environment is escaped, so that it is the text itself. */
export function scalar(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  const text = escapeReferences(value);
  return PLAIN.test(text) && !OWN.test(text) ? text : quoted(text);
}

/** A key: it takes nothing from the environment. */
export function key(text: string): string {
  return PLAIN.test(text) && !OWN.test(text) ? text : quoted(text);
}

/** A scalar that may hold references to the environment, in a block. */
export function referring(text: string): string {
  return PLAIN_REFERENCE.test(text) ? text : quoted(text);
}

/** Text that stands for itself where `${…}` is a reference. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/**
 * JSON's form is YAML's in double quotes, but for what JSON leaves as it is and YAML does not print, a terminal obeys, or
 * changes the direction of reading.
 */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\ufffe\uffff]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** A block of scalars on one line. */
export function flow(entries: Readonly<Record<string, string | number | null>>): string {
  const pairs = Object.entries(entries).map(([name, value]) => `${key(name)}: ${scalar(value)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}
