import { redact } from '../../core/credentials/redact.ts';

/** Whatever a line may end with or begin anew with. */
const SPACE = /[\s\p{Zl}\p{Zp}]+/gu;
/** Control and format characters: a terminal obeys some, and others turn what follows around. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu;

/** What a person is shown of a platform's text: one line, harmless to a terminal, without secrets, of so many characters at most. */
export type SafeText = (text: string, maxLength: number) => string;

/** `secrets` are shown in no text, whoever sends them back. */
export function createSafeText(secrets: readonly string[]): SafeText {
  return (text, maxLength) => {
    // In this order: what is left out may stand in the middle of a secret, and what is cut off may be the end of one.
    const shown = redact(text.replace(SPACE, ' ').replace(UNSAFE, ''), secrets);
    return shown.length > maxLength ? `${shown.slice(0, maxLength - 1).toWellFormed()}…` : shown;
  };
}

const MAX_LISTED = 300;

/** The same texts by name, each safe. */
export function safeTexts(texts: Readonly<Record<string, string>>, safe: SafeText): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, safe(text, MAX_LISTED)]));
}

const MAX = { depth: 4, members: 40, elements: 3, text: 160, values: 300 };

/** A platform's JSON as it is shown: bounded in all directions, every key and text of it safe. */
export function safeJson(value: unknown, safe: SafeText): unknown {
  let values = 0;
  const show = (each: unknown, depth: number): unknown => {
    values += 1;
    if (typeof each === 'string') return safe(each, MAX.text);
    if (typeof each !== 'object' || each === null) return each;
    if (depth === MAX.depth || values > MAX.values) return '…';
    if (Array.isArray(each)) {
      const shown = each.slice(0, MAX.elements).map((element) => show(element, depth + 1));
      return each.length > MAX.elements ? [...shown, `… ${each.length - MAX.elements} more`] : shown;
    }
    const entries = Object.entries(each);
    const shown = entries.slice(0, MAX.members).map(([key, child]) => [safe(key, MAX.text), show(child, depth + 1)]);
    if (entries.length > MAX.members) shown.push(['…', `${entries.length - MAX.members} more`]);
    return Object.fromEntries(shown);
  };
  return show(value, 0);
}
