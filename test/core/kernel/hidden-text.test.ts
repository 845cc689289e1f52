import { expect } from 'chai';
import fc from 'fast-check';
import { mayHideText, showHidden } from '../../../src/core/kernel/hidden-text.ts';
import { anyText } from '../../support/any-text.ts';
import { atDepth } from '../../support/depth.ts';
import { SEEDED } from '../../support/seed.ts';

/** Names of languages, sentences and symbols as people write them. */
const SEEN: Readonly<Record<string, string>> = {
  'Latin with combining marks': 'Ä e\u0301 o\u0308 Tiếng Việt \u1e69 ﬁ ﷺ',
  'line ends and tabs': 'a\nb\r\nc\td',
  'spaces of all widths': 'a\u00a0b\u2003c\u202fd\u3000e',
  'Persian with non-joiners': 'می‌خواهم کتاب‌ها را',
  'Arabic with harakat and number signs': 'السَّلَامُ عَلَيْكُمْ \u0600١٢ ۝',
  'Chinese, Japanese, Korean, N’Ko, Adlam':
    '简体中文 繁體 𠮷野家 日本語 ひらがな カタカナ が ﾊﾝｶｸ 한국어 한 ᄒ ߒߞߏ 𞤀𞤣𞤤𞤢𞤥',
  'Georgian, Armenian, Amharic, Cherokee, Greek, Cyrillic': 'ქართული Հայերեն አማርኛ ᏣᎳᎩ Ελληνικά ᾧ Українська ё й',
  'Urdu, Hebrew with points, Syriac, Punjabi, Odia, Tibetan':
    'اردو میں خوش آمدید שָׁלוֹם עֲלֵיכֶם ܠܫܢܐ ܣܘܪܝܝܐ ਪੰਜਾਬੀ ଓଡ଼ିଆ བོད་སྐད་',
  'Hindi with joiners': 'हिन्दी क्‍ष क्‌ष र्‍य',
  Marathi: 'दुसऱ्या र्‍हास',
  'Bengali with joiners': 'বাংলা র‍্যাব ক্‌ষ',
  Gujarati: 'ગુજરાતી ક્‍ષ',
  Tamil: 'தமிழ் க்‌ஷ',
  Telugu: 'తెలుగు క్‌ష',
  'Kannada with a joiner before its virama': 'ಕನ್ನಡ ರ‍್ಯಾಂಕ್',
  'Malayalam with a joiner at the end of a word': 'മലയാളം അവന്‍ പോയി',
  'Sinhala with joiners': 'ශ්‍රී ලංකාව ක්‍ෂ',
  'Thai with a zero-width space': 'ภาษา\u200bไทย',
  Lao: 'ພາສາ\u200bລາວ',
  'Khmer with zero-width spaces': 'ភាសា\u200bខ្មែរ',
  Burmese: 'မြန်မာ\u200bဘာသာ',
  'Mongolian with selectors and a vowel separator': 'ᠮᠣᠩᠭᠣᠯ ᠠ᠋ ᠬᠠᠨ\u180eᠠ',
  Braille: '⠓⠑⠇⠇⠕\u2800⠺',
  mathematics: '𝔸 ∑ ∞ ≠ x²',
  'emoji with selectors': '❤️ ☠︎ ©️ ™️ 🅿️',
  'emoji with skin tones': '👍🏽 🧑🏿',
  'emoji joined to others': '👨‍👩‍👧‍👦 👩🏽‍❤️‍💋‍👨🏿 🏳️‍🌈 🏳️‍⚧️ 🏴‍☠️ 👁️‍🗨️ ❤️‍🔥 🧑‍💻 🐻‍❄️',
  'emoji joined without selectors': '👁‍🗨 🏳‍🌈',
  keycaps: '1️⃣ #️⃣ *️⃣',
  'flags of countries': '🇩🇪🇮🇷🇯🇵',
  'flags of England, Scotland and Wales': '🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿',
  'a code point that is reserved for an emoji': '\u{1fafd}',
};

/** Hidden characters, and the text in which a model sees them. */
const HIDDEN: Readonly<Record<string, readonly [text: string, shown: string]>> = {
  'a bidi override': ['a\u202etxt.exe\u202c', 'a\\u{202e}txt.exe\\u{202c}'],
  'bidi isolates': ['\u2066a\u2069', '\\u{2066}a\\u{2069}'],
  'bidi marks': ['\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
  'a zero-width space': ['SCAN\u200bNER', 'SCAN\\u{200b}NER'],
  'joiners in Latin': ['a\u200cb\u200dc', 'a\\u{200c}b\\u{200d}c'],
  'a byte order mark': ['\ufeffa', '\\u{feff}a'],
  'a text in tag characters': ['a\u{e0001}\u{e0069}\u{e0067}', 'a\\u{e0001}\\u{e0069}\\u{e0067}'],
  'a text in tag characters behind a flag': ['🏴\u{e0069}\u{e0067}\u{e007f}', '🏴\\u{e0069}\\u{e0067}\\u{e007f}'],
  'tag characters behind the flag of Scotland': ['🏴󠁧󠁢󠁳󠁣󠁴󠁿\u{e0061}', '🏴󠁧󠁢󠁳󠁣󠁴󠁿\\u{e0061}'],
  'selectors behind an emoji': ['😀\u{e0100}\u{e01ef}', '😀\\u{e0100}\\u{e01ef}'],
  'a second selector behind an emoji': ['❤️\ufe0f', '❤️\\u{fe0f}'],
  'a selector behind a letter': ['a\ufe0fb\ufe00', 'a\\u{fe0f}b\\u{fe00}'],
  'a selector behind a digit without its keycap': ['1\ufe0f2', '1\\u{fe0f}2'],
  'a joiner behind an emoji': ['😀\u200d', '😀\\u{200d}'],
  'joiners in a row between emoji': ['😀\u200d\u200d😀', '😀\\u{200d}\\u{200d}😀'],
  'joiners in a row in Persian': ['ی\u200c\u200dخ', 'ی\\u{200c}\\u{200d}خ'],
  'selectors in a row in Mongolian': ['ᠠ\u180b\u180c', 'ᠠ\u180b\\u{180c}'],
  'a zero-width space at the end of Thai': ['ไทย\u200b', 'ไทย\\u{200b}'],
  'terminal escapes': ['\x1b[31mred\x1b]0;x\x07', '\\u{1b}[31mred\\u{1b}]0;x\\u{7}'],
  'C0 and C1 controls': ['\0\b\f\x7f\x85\x9b', '\\u{0}\\u{8}\\u{c}\\u{7f}\\u{85}\\u{9b}'],
  'a carriage return that hides a line': ['bad\rgood', 'bad\\u{d}good'],
  'a soft hyphen': ['a\u00adb', 'a\\u{ad}b'],
  'invisible operators': ['\u2060\u2061\u2064', '\\u{2060}\\u{2061}\\u{2064}'],
  'Hangul fillers': ['\u115f\u1160\u3164\uffa0', '\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}'],
  'line and paragraph separators': ['a\u2028b\u2029', 'a\\u{2028}b\\u{2029}'],
  'private use': ['\ue000\u{f0000}\u{10fffd}', '\\u{e000}\\u{f0000}\\u{10fffd}'],
  noncharacters: ['\ufdd0\uffff\u{10ffff}', '\\u{fdd0}\\u{ffff}\\u{10ffff}'],
  'an unassigned character': ['\u0378', '\\u{378}'],
  'a lone surrogate': ['a\ud800b', 'a\\u{d800}b'],
  annotations: ['\ufff9a\ufffab\ufffb', '\\u{fff9}a\\u{fffa}b\\u{fffb}'],
  'a grapheme joiner': ['a\u034fb', 'a\\u{34f}b'],
};

/** Characters of all kinds, near each other. */
const ANY_TEXT = fc
  .array(
    fc.oneof(
      anyText(),
      fc.constantFrom(...Object.values(SEEN).flatMap((text) => [...text])),
      fc.constantFrom(...Object.values(HIDDEN).flatMap(([text]) => [...text])),
    ),
  )
  .map((parts) => parts.join(''))
  // What a text already shows cannot be distinguished.
  .filter((text) => !text.includes('\\u'));

describe('hidden characters', () => {
  for (const [what, text] of Object.entries(SEEN)) {
    it(`are not: ${what}`, () => {
      expect(showHidden(text)).to.deep.equal({ text, hidden: 0 });
    });
  }

  for (const [what, [text, shown]] of Object.entries(HIDDEN)) {
    it(`are shown: ${what}`, () => {
      const hidden = shown.match(/\\u\{/g)?.length;
      expect(showHidden(text)).to.deep.equal({ text: shown, hidden });
    });
  }

  it(`are shown once, and can be read back ${SEEDED}`, () => {
    fc.assert(
      fc.property(ANY_TEXT, (text) => {
        const shown = showHidden(text);
        expect(showHidden(shown.text)).to.deep.equal({ text: shown.text, hidden: 0 });
        const back = shown.text.replace(/\\u\{([0-9a-f]+)\}/g, (_, code) =>
          String.fromCodePoint(Number.parseInt(code, 16)),
        );
        expect(back).to.equal(text);
      }),
      { numRuns: atDepth(500, 100_000) },
    );
  });

  it(`are found in JSON ${SEEDED}`, () => {
    fc.assert(
      fc.property(ANY_TEXT, (text) => mayHideText(JSON.stringify({ text })) || showHidden(text).hidden === 0),
      { numRuns: atDepth(500, 100_000) },
    );
    expect(mayHideText(JSON.stringify({ text: 'Ä "quoted" \\ / \r\n\t 日本語 😀' }))).to.equal(false);
  });

  it('take time in proportion to the text', () => {
    for (const unit of ['\u200b', 'م\u200d', '😀\u200d', '🏴\u{e0067}', 'ᠠ\u180b', '1\ufe0f']) {
      expect(showHidden(unit.repeat(40_000)).text.length).to.be.greaterThan(40_000);
    }
  });
});
