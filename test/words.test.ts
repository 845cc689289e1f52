import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEXT = /\.(?:ts|md|json|yaml|html|css|lua|js)$/;

const TITLE = /\b(?:describe|it)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g;

/**
 * Banned words and phrases, each with a plain replacement. Identifiers are split at their capitals first, so `emitLimitReached`
 * counts as `tell bound`.
 */
const BANNED: Readonly<Record<string, { readonly pattern: RegExp; readonly instead: string }>> = {
  tell: { pattern: /\b(?:tells?|told|telling)\b/g, instead: 'emit, log, report, return, state' },
  hear: { pattern: /\b(?:hears?|heard|hearing)\b/g, instead: 'receive' },
  nobody: {
    pattern: /\b(?:nobody|somebody|anybody)\b/g,
    instead: 'name the role: caller, operator, client',
  },
  whoever: { pattern: /\b(?:whoever|whomever)\b/g, instead: 'name the role: caller, operator, client' },
  heed: { pattern: /\bheed(?:s|ed)?\b/g, instead: 'respect, apply' },
  'of ours': { pattern: /\bof (?:ours|theirs|its own accord)\b/g, instead: 'our, their, its' },
  'let go of': { pattern: /\b(?:lets?|letting) go\b/g, instead: 'release, drop, discard' },
  'give way': { pattern: /\b(?:gives?|gave|giving) way\b/g, instead: 'shed, evict, yield' },
  stands: {
    pattern: /\b(?:stands|stood|standing|stand still)\b/g,
    instead: 'is; of a process: is stopped',
  },
  'goes on by': { pattern: /\b(?:goes?|going|gone) on (?:by|with)\b/g, instead: 'applies, continues with' },
  'is to be': { pattern: /\b(?:is|are|was|were) to be\b/g, instead: 'must be, can be' },
  'the way to': { pattern: /\bthe way to\b/g, instead: 'the connection to, how to' },
  'by turns': { pattern: /\bby turns\b/g, instead: 'in rotation, alternately' },
  'long since': { pattern: /\blong since\b/g, instead: 'already' },
  anew: { pattern: /\banew\b/g, instead: 'again' },
  'in vain': { pattern: /\bin vain\b/g, instead: 'without result' },
  doubted: { pattern: /\bdoubted\b/g, instead: 'has warnings' },
  barred: { pattern: /\bbarred\b/g, instead: 'refused' },
  'out of step': { pattern: /\bout of step\b/g, instead: 'unsolicited' },
  unasked: { pattern: /\bunasked\b/g, instead: 'unsolicited' },
  patience: { pattern: /\bpatience\b/g, instead: 'wait' },
  knows: { pattern: /\b(?:knows|knew)\b/g, instead: 'has, reads; or state the fact' },
  wants: { pattern: /\bwants\b/g, instead: 'needs, requires' },
  'for want of': { pattern: /\bfor want of\b/g, instead: 'without' },
  'will do': { pattern: /\bwill do\b/g, instead: 'is enough' },
};

/** Quoted text that may contain a banned phrase, such as a sentence of an RFC. */
const QUOTED: readonly string[] = [];

const sources = filesIn('src');
const lines = ['README.md', 'CONTRIBUTING.md', ...filesIn('docs'), ...sources]
  .filter((file) => TEXT.test(file))
  .flatMap((file) => linesOf(file));

describe('the words of src/, docs/ and README', () => {
  for (const [name, { pattern, instead }] of Object.entries(BANNED)) {
    it(`do not include "${name}"`, () => {
      const hits = lines.flatMap(({ where, text }) => [...text.matchAll(pattern)].map(([hit]) => `${where}: ${hit}`));
      expect(hits, `write "${instead}" instead`).to.deep.equal([]);
    });
  }
});

describe('the titles of the tests', () => {
  const titles = filesIn('test')
    .filter((file) => file.endsWith('.ts'))
    .flatMap(titlesOf);

  for (const [name, { pattern, instead }] of Object.entries(BANNED)) {
    it(`do not include "${name}"`, () => {
      const hits = titles.flatMap(({ where, text }) => [...text.matchAll(pattern)].map(([hit]) => `${where}: ${hit}`));
      expect(hits, `write "${instead}" instead`).to.deep.equal([]);
    });
  }
});

describe('the file names of src/', () => {
  it('are unique', () => {
    const names = sources.map((file) => basename(file));
    const twice = names.filter((name, index) => names.indexOf(name) !== index && name !== 'index.ts');
    expect(twice).to.deep.equal([]);
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(`${ROOT}${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath.slice(ROOT.length)}/${entry.name}`);
}

/** What `describe` and `it` are called with, without the values in templates. */
function titlesOf(file: string): { where: string; text: string }[] {
  const text = readFileSync(`${ROOT}${file}`, 'utf8');
  return [...text.matchAll(TITLE)].map(([, , title = '']) => ({
    where: `${file}: ${title}`,
    text: title.replaceAll(/\$\{[^}]*\}/g, '').toLowerCase(),
  }));
}

function linesOf(file: string): { where: string; text: string }[] {
  const text = QUOTED.reduce((rest, quote) => rest.replaceAll(quote, ''), readFileSync(`${ROOT}${file}`, 'utf8'));
  return text.split('\n').map((line, index) => ({
    where: `${file}:${index + 1}`,
    text: line.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase(),
  }));
}
