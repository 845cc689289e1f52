import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const SOURCES = join(import.meta.dirname, '../src');

/** What the sources must not use of Node and of packages: a release of theirs may change it without notice. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  // `_meta` is a member of MCP's messages.
  'a property that begins with an underscore': /[\w)\]]\??\._(?!meta\b)\w+/g,
  'a symbol of a package': /\bSymbol\.for\(|\bsymbols\.\w+|getOwnPropertySymbols/g,
  'a type that is replaced': /\bas unknown as\b/g,
  'an assignment to a prototype or a parser':
    /\.prototype(?:\.\w+|\[[^\]]+\])\s*=(?!=)|\bparser\.\w+\s*=(?!=)|setPrototypeOf/g,
  'a file inside a package': /\b(?:from|import\(|require\()\s*'(?!node:|\.)(?:@[\w.-]+\/)?[\w.-]+\/[^']+'/g,
};

/** Where one is used all the same, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'core/http/connection/connections.ts: parser.onIncoming =':
    'Node has no other means to end parsing: a hundred packets of tiny requests at once took all memory',
};

/** Returns the sources without comments, by their path below `src`. */
function sources(): readonly (readonly [path: string, text: string])[] {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return names.map((name) => {
    const text = readFileSync(join(SOURCES, name), 'utf8');
    return [name, text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')];
  });
}

describe('the sources', () => {
  const found = sources().flatMap(([path, text]) =>
    Object.entries(FORBIDDEN).flatMap(([what, pattern]) =>
      [...text.matchAll(pattern)].map(([use]) => ({ use: `${path}: ${use}`, what })),
    ),
  );

  it('use documented API only, apart from listed exceptions', () => {
    expect(found.filter(({ use }) => EXCEPTIONS[use] === undefined)).to.deep.equal([]);
  });

  it('need each exception', () => {
    expect(Object.keys(EXCEPTIONS).filter((one) => found.every(({ use }) => use !== one))).to.deep.equal([]);
  });

  for (const [what, text] of [
    ['a property that begins with an underscore', 'response._storeHeader(lines)'],
    ['a symbol of a package', "logger[pino.symbols.asJsonSym]; other[Symbol.for('x')]"],
    ['a type that is replaced', 'value as unknown as Framed'],
    ['an assignment to a prototype or a parser', 'Server.prototype.close = f; socket.parser.onIncoming = f'],
    ['a file inside a package', "import x from 'undici/lib/client.js'; import y from '@koa/router/dist/x.js'"],
  ] as const) {
    it(`would be found with ${what}`, () => {
      expect(text.match(FORBIDDEN[what] ?? /$^/)?.length).to.be.at.least(1);
    });
  }
});
