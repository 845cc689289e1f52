/** DEL, C1 controls, line and paragraph separators, and format characters: bidi controls, zero-width and tag characters. */
const HIDDEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * The same JSON line with every character escaped that a terminal obeys or a reader cannot see (`\u202e`), also where JSON
 * allows it unescaped. JSON serializers escape C0 controls themselves. The line parses to the same value.
 */
export function withVisibleText(line: string): string {
  return line.replace(HIDDEN, escapeUnits);
}

/** One escape for each UTF-16 code unit (RFC 8259, section 7). */
function escapeUnits(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
