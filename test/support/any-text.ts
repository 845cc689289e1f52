import fc, { type StringConstraints } from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** Any character: every code point but halves of pairs. For fast-check's `unit` and `stringUnit`. */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10_ffff - SURROGATES.count }).map(
  (number) => String.fromCodePoint(number < SURROGATES.first ? number : number + SURROGATES.count),
  (text) => {
    const number = typeof text === 'string' && [...text].length === 1 ? text.codePointAt(0) : undefined;
    if (number === undefined) throw new Error('no code point');
    return number < SURROGATES.first ? number : number - SURROGATES.count;
  },
);

/**
 * Text of any characters, and what JavaScript has names of its own for (`__proto__`). fast-check's own (`unit: 'binary'`) is
 * the same, but writes a table of all characters first, which takes each process a second and 150 MB. So does `fc.webUrl()`.
 */
export function anyText(constraints: Omit<StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: anyCharacter });
}

/** How placeholders begin that nobody has replaced, which are no tokens. */
const PLACEHOLDER = /^(?:\$[A-Z_{]|<|\{\{|\{env:|your[-_])/i;

/** What a token may be: visible ASCII, and what replacements and formats give a meaning to. */
export const visibleAscii: fc.Arbitrary<string> = fc
  .string({
    minLength: 1,
    maxLength: 24,
    unit: fc.oneof(
      fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('$&', '$1', '$$', '{token}', '%20', '\\"', '",', ';q=0'),
    ),
  })
  .filter((text) => !PLACEHOLDER.test(text));
