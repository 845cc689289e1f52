import { expect } from 'chai';
import { parseCommandLine, USAGE } from '../../src/commands/command-line.ts';

/** What each command line is, by its words. */
const PARSED: Readonly<Record<string, object>> = {
  '': { name: 'serve' },
  '--config a.yaml': { name: 'serve', file: 'a.yaml' },
  'serve -c a.yaml': { name: 'serve', file: 'a.yaml' },
  'serve a.yaml': { name: 'serve', file: 'a.yaml' },
  'stdio --config=a.yaml': { name: 'stdio', file: 'a.yaml' },
  stdio: { name: 'stdio' },
  check: { name: 'check' },
  'check a.yaml --full': { name: 'check', file: 'a.yaml', full: true },
  'check --probe --json a.yaml': { name: 'check', file: 'a.yaml', probe: true, json: true },
  'check --probe --strict --allow-post': { name: 'check', probe: true, strict: true, allowPost: true },
  'init a.yaml --openapi b.json': { name: 'init', file: 'a.yaml', openapi: 'b.json' },
  schema: { name: 'schema' },
  '--demo': { name: 'demo' },
  '--help': { name: 'help' },
  '-v': { name: 'version' },
  'serve --help': { name: 'help' },
  help: { name: 'help' },
};

/** What is wrong with each command line. */
const ISSUES: Readonly<Record<string, string>> = {
  'check --strict': '--strict needs --probe',
  'check --allow-post': '--allow-post needs --probe',
  init: 'init needs --openapi FILE or URL',
  'check --openapi b.json': 'check does not support --openapi',
  'check --prob': "Unknown option '--prob'",
  'check --json --confg=a.yaml': "Unknown option '--confg'",
  'check --config': "Option '-c, --config <value>' argument missing",
  'check -f a.yaml': "Unknown option '-f'",
  '--nonsense': "Unknown option '--nonsense'",
  'frobnicate --config x': 'unknown command frobnicate',
  'toString --config x': 'unknown command toString',
  'a.yaml': 'unknown command a.yaml; did you mean serve a.yaml?',
  'serve twice --config x': 'too many arguments: twice',
  'check a.yaml b.yaml': 'too many arguments: b.yaml',
  'schema a.yaml': 'too many arguments: a.yaml',
  'check --json': '--json needs --probe',
  'check --full --probe': '--full cannot be combined with --probe',
  'serve --full': 'serve does not support --full',
  '--demo --config x': '--demo takes no other argument',
};

describe('a command line', () => {
  const parse = (line: string) => JSON.parse(JSON.stringify(parseCommandLine(line.split(' ').filter(Boolean))));

  for (const [line, parsed] of Object.entries(PARSED)) {
    it(`portico ${line}`, () => expect(parse(line)).to.deep.equal(parsed));
  }
  for (const [line, issue] of Object.entries(ISSUES)) {
    it(`portico ${line}`, () => expect(parse(line)).to.deep.equal({ issue }));
  }

  it('has an example in the usage for each command', () => {
    const words = (pattern: RegExp) => [...USAGE.matchAll(pattern)].map(([, command]) => command);
    const commands = words(/^ {2}portico (\S+)/gm);
    expect(commands).to.include.members(['serve', 'stdio', 'check', 'schema', '--demo']);
    expect([...new Set(words(/^ {10,}(?:\w+=\S+ )*portico (\S+)/gm))]).to.deep.equal(
      commands.filter((name) => name !== '--help'),
    );
  });
});
