import { redact } from '../../core/credentials/redact.ts';
import { PRINTED } from '../input-bounds.ts';

const SPACE = /[\s\p{Zl}\p{Zp}]+/gu;
/** Control and format characters, which affect a terminal or the direction of reading. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu;

/** Makes a platform's text safe to print: one line of `maxLength` characters at most, without control characters and secrets. */
export type SafeText = (text: string, maxLength: number) => string;

export function createSafeText(secrets: readonly string[]): SafeText {
  return (text, maxLength) => {
    // In this order: an unsafe character can interrupt a secret, and the bound can cut one.
    const shown = redact(text.replace(SPACE, ' ').replace(UNSAFE, ''), secrets);
    return shown.length > maxLength ? `${shown.slice(0, maxLength - 1).toWellFormed()}…` : shown;
  };
}

/** Makes a platform's JSON safe to print: bounded, with safe keys and texts. */
export function safeJson(value: unknown, safe: SafeText): unknown {
  let values = 0;
  const show = (each: unknown, depth: number): unknown => {
    values += 1;
    if (typeof each === 'string') return safe(each, PRINTED.textLength);
    if (typeof each !== 'object' || each === null) return each;
    if (depth === PRINTED.depth || values > PRINTED.values) return '…';
    if (Array.isArray(each)) {
      const more = each.length - PRINTED.elements;
      const shown = each.slice(0, PRINTED.elements).map((element) => show(element, depth + 1));
      return more > 0 ? [...shown, `… ${more} more`] : shown;
    }
    const entries = Object.entries(each);
    const more = entries.length - PRINTED.members;
    const shown = entries
      .slice(0, PRINTED.members)
      .map(([key, child]) => [safe(key, PRINTED.textLength), show(child, depth + 1)]);
    return Object.fromEntries(more > 0 ? [...shown, ['…', `${more} more`]] : shown);
  };
  return show(value, 0);
}

export function safeTexts(texts: Readonly<Record<string, string>>, safe: SafeText): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, safe(text, PRINTED.listedLength)]));
}
