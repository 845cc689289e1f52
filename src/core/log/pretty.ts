import type { LogDestination } from './destination.ts';

/** DEL, C1 controls, line and paragraph separators, and format characters: bidi controls, zero-width and tag characters. */
const HIDDEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes them in JSON as `\u202e` (RFC 8259, section 7): it parses to the same value. JSON escapes C0 controls itself. */
export function escapeHidden(json: string): string {
  return json.replace(HIDDEN, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** SGR codes of levels. */
const COLOURS: Readonly<Record<string, number>> = { debug: 34, info: 32, warn: 33, error: 31, fatal: 41 };
const CYAN = 36;

/** Writes lines for a person: time, level and message, then the fields, and stacks line by line. Nothing that a terminal obeys. */
export function prettyDestination(destination: LogDestination): LogDestination {
  const hasColours = destination.terminal?.hasColours ?? false;
  const paint = (text: string, code = 0) => (hasColours ? `\x1b[${code}m${text}\x1b[39m` : text);

  function pretty(line: string): string {
    const { level, time, msg, stack, ...fields } = JSON.parse(line);
    const at = new Date(time);
    const clock = `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
    const message = escapeHidden(JSON.stringify(msg)).slice(1, -1);
    const rest = Object.keys(fields).length === 0 ? '' : ` ${escapeHidden(JSON.stringify(fields))}`;
    const first = `[${clock}] ${paint(String(level).toUpperCase(), COLOURS[level])}: ${paint(message, CYAN)}${rest}\n`;
    if (stack === undefined) return first;
    const lines = String(stack)
      .split('\n')
      .map((each) => `    ${each.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim()}\n`);
    return `${first}${lines.join('').replace(/^ {4}/, '    stack: ')}`;
  }

  return { ...destination, write: (line) => destination.write(pretty(line)) };
}
