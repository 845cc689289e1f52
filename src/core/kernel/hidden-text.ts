/** Scripts whose words may contain joiners (Unicode, section 23.2). */
const JOINING = [
  ...['Arab', 'Syrc', 'Mand', 'Mong', 'Nkoo', 'Phag', 'Adlm', 'Rohg', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml'],
  ...['Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr', 'Tibt', 'Java', 'Bali'],
];
/** Scripts without spaces, in which a zero-width space may separate words. */
const UNSPACED = ['Thai', 'Laoo', 'Khmr', 'Mymr'];

const LETTER = lettersOf(JOINING);
const UNSPACED_LETTER = lettersOf(UNSPACED);
const MONGOLIAN = lettersOf(['Mong']);

/** Emoji with a selector or a skin tone. */
const EMOJI = '\\p{ExtPict}[\\uFE0E\\uFE0F\\p{EMod}]?';

/** Sequences that are left as they are, but not behind another invisible character. */
const KEPT = [
  `\\u{1F3F4}(?:${['gbeng', 'gbsct', 'gbwls'].map(tagsOf).join('|')})\\u{E007F}`,
  `${EMOJI}(?:\\u200D${EMOJI})*`,
  '[0-9#*]\\uFE0F\\u20E3',
  `(?<=[\\p{M}&&${LETTER}])[\\u200C\\u200D]`,
  `(?<=${LETTER})[\\u200C\\u200D](?=${LETTER})`,
  `(?<=${UNSPACED_LETTER})\\u200B(?=${UNSPACED_LETTER})`,
  `(?<=${MONGOLIAN})(?:[\\u180B-\\u180D\\u180F]|\\u180E(?=${MONGOLIAN}))`,
].join('|');

/** Characters that a reader does not see, or that change what is seen. Line ends and tabs are seen. */
const HIDDEN =
  '[[\\p{DI}\\p{Cc}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\uFFF9-\\uFFFB[\\p{Cn}--\\p{ExtPict}]]--[\\t\\n\\r]]|\\r(?!\\n)';

/** A joiner behind another hidden character is not kept, so that a run can be matched at once. */
const ALL = new RegExp(`(${KEPT})|(?:${HIDDEN})+`, 'gv');
const ANY = new RegExp(HIDDEN, 'v');
/** Matches hidden characters in JSON, where controls and lone surrogates are escaped. */
const ANY_IN_JSON = new RegExp(`${HIDDEN}|\\\\[ubf]|\\\\r(?!\\\\n)`, 'v');

const WRITTEN = /\\u\{([0-9a-f]{1,6})\}/g;
const MAX_POINT = 0x10ffff;

/** Shows hidden characters as `\u{200b}`, except in emoji sequences and words that need them (docs/decisions/0066). */
export function showHidden(text: string) {
  if (!ANY.test(text)) return { text, hidden: 0 };
  let hidden = 0;
  const shown = text.replace(ALL, (found: string, kept?: string) => {
    if (kept !== undefined) return kept;
    const written = Array.from(found, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
    hidden += written.length;
    return written.join('');
  });
  return { text: shown, hidden };
}

/** Returns the characters that {@link showHidden} writes as `\u{200b}`. */
export function revealHidden(text: string): string {
  return text.replace(WRITTEN, (written, hex: string) => {
    const point = Number.parseInt(hex, 16);
    return point > MAX_POINT ? written : String.fromCodePoint(point);
  });
}

/** Whether texts in this JSON, as `JSON.stringify` writes it, may have hidden characters. `false` is certain. */
export function mayHideText(json: string): boolean {
  return ANY_IN_JSON.test(json);
}

function lettersOf(scripts: readonly string[]): string {
  const extensions = scripts.map((script) => `\\p{scx=${script}}`).join('');
  return `[[[\\p{L}\\p{M}]&&[${extensions}]]--\\p{DI}]`;
}

function tagsOf(text: string): string {
  return [...text].map((character) => `\\u{E00${character.charCodeAt(0).toString(16)}}`).join('');
}
