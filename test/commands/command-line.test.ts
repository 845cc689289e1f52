import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { parseCommandLine } from '../../src/commands/command-line.ts';

/** What each command line is, by its words. */
const PARSED: Readonly<Record<string, object>> = {
  '': { name: 'serve' },
  '--config a.yaml': { name: 'serve', file: 'a.yaml' },
  'serve -c a.yaml': { name: 'serve', file: 'a.yaml' },
  'serve a.yaml': { name: 'serve', file: 'a.yaml' },
  'serve --workers 4': { name: 'serve', workers: 4 },
  '--workers=auto serve': { name: 'serve', workers: availableParallelism() },
  'stdio --config=a.yaml': { name: 'stdio', file: 'a.yaml' },
  stdio: { name: 'stdio' },
  check: { name: 'check' },
  'check a.yaml --full': { name: 'check', file: 'a.yaml', full: true },
  'check --probe --json a.yaml': { name: 'check', file: 'a.yaml', probe: true, json: true },
  'check --probe --strict --allow-post': { name: 'check', probe: true, strict: true, allowPost: true },
  'check --probe --baseline b.json --update-baseline': {
    ...{ name: 'check', probe: true, baseline: 'b.json', updateBaseline: true },
  },
  'init a.yaml --openapi b.json -y': { name: 'init', file: 'a.yaml', openapi: 'b.json', yes: true },
  'init --from https://a.example': { name: 'init', from: 'https://a.example' },
  schema: { name: 'schema' },
  '--demo': { name: 'demo' },
  '--help': { name: 'help' },
  '-v': { name: 'version' },
  'serve --help': { name: 'help' },
};

const WORKERS = '--workers is auto, or a number from 1 to 128';

/** What is wrong with each command line. */
const ISSUES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['0', '129', '1.5', '-1', 'many', '0x2'].map((count) => [`serve --workers=${count}`, WORKERS])),
  'stdio --workers 2': 'stdio takes no --workers',
  'check --baseline b.json': '--baseline goes with --probe',
  'check --probe --update-baseline': '--update-baseline goes with --baseline FILE',
  'serve --baseline b.json': 'serve takes no --baseline',
  'check --strict': '--strict goes with --probe',
  'check --allow-post': '--allow-post goes with --probe',
  init: 'init needs --openapi FILE or --from URL',
  'check --yes': 'check takes no --yes',
  'check --prob': "Unknown option '--prob'",
  'check --yes --confg=a.yaml': "Unknown option '--confg'",
  'check --config': "Option '-c, --config <value>' argument missing",
  'check -f a.yaml': "Unknown option '-f'",
  '--nonsense': "Unknown option '--nonsense'",
  'frobnicate --config x': 'there is no command frobnicate',
  'toString --config x': 'there is no command toString',
  'a.yaml': 'there is no command a.yaml',
  'serve twice --config x': 'too many arguments: twice',
  'check a.yaml b.yaml': 'too many arguments: b.yaml',
  'schema a.yaml': 'too many arguments: a.yaml',
  'check --json': '--json goes with --probe',
  'check --full --probe': '--full and --probe exclude each other',
  'serve --full': 'serve takes no --full',
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
});
