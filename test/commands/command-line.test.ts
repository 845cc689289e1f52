import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { parseCommandLine } from '../../src/commands/command-line.ts';

const NONE = {
  ...{ full: false, probe: false, json: false, strict: false, allowPost: false },
  ...{ baseline: undefined, updateBaseline: false },
};

describe('a command line', () => {
  for (const [args, parsed] of [
    [[], { name: 'serve', file: undefined, ...NONE }],
    [['--config', 'a.yaml'], { name: 'serve', file: 'a.yaml', ...NONE }],
    [['serve', '-c', 'a.yaml'], { name: 'serve', file: 'a.yaml', ...NONE }],
    [['serve', 'a.yaml'], { name: 'serve', file: 'a.yaml', ...NONE }],
    [['serve', '--workers', '4'], { name: 'serve', file: undefined, ...NONE, workers: 4 }],
    [['--workers=auto', 'serve'], { name: 'serve', file: undefined, ...NONE, workers: availableParallelism() }],
    ...['0', '129', '1.5', '-1', 'many', '0x2', '2 '].map(
      (workers) =>
        [['serve', `--workers=${workers}`], { issue: '--workers is auto, or a number from 1 to 128' }] as const,
    ),
    [['stdio', '--workers', '2'], { issue: 'stdio takes no --workers' }],
    [['stdio', '--config=a.yaml'], { name: 'stdio', file: 'a.yaml', ...NONE }],
    [['stdio'], { name: 'stdio', file: undefined, ...NONE }],
    [['check'], { name: 'check', file: undefined, ...NONE }],
    [['check', 'a.yaml', '--full'], { name: 'check', file: 'a.yaml', ...NONE, full: true }],
    [['check', '--probe', '--json', 'a.yaml'], { name: 'check', file: 'a.yaml', ...NONE, probe: true, json: true }],
    [
      ['check', '--probe', '--strict', '--allow-post'],
      { name: 'check', file: undefined, ...NONE, probe: true, strict: true, allowPost: true },
    ],
    [
      ['check', '--probe', '--baseline', 'b.json', '--update-baseline'],
      { name: 'check', file: undefined, ...NONE, probe: true, baseline: 'b.json', updateBaseline: true },
    ],
    [['check', '--baseline', 'b.json'], { issue: '--baseline goes with --probe' }],
    [['check', '--probe', '--update-baseline'], { issue: '--update-baseline goes with --baseline FILE' }],
    [['check', '--probe', '--baseline='], { issue: 'the name of the baseline is empty' }],
    [['serve', '--baseline', 'b.json'], { issue: 'serve takes no --baseline' }],
    [['check', '--strict'], { issue: '--strict goes with --probe' }],
    [['check', '--allow-post'], { issue: '--allow-post goes with --probe' }],
    [
      ['init', 'a.yaml', '--openapi', 'b.json', '-y'],
      { name: 'init', file: 'a.yaml', ...NONE, init: { openapi: 'b.json', from: undefined, yes: true } },
    ],
    [
      ['init', '--from', 'https://a.example'],
      { name: 'init', file: undefined, ...NONE, init: { openapi: undefined, from: 'https://a.example', yes: false } },
    ],
    [['init'], { issue: 'init needs --openapi FILE or --from URL' }],
    [['check', '--yes'], { issue: 'check takes no --yes' }],
    [['schema'], { name: 'schema', file: undefined, ...NONE }],
    [['--demo'], { name: 'demo', file: undefined, ...NONE }],
    [['--help'], { name: 'help', file: undefined, ...NONE }],
    [['-v'], { name: 'version', file: undefined, ...NONE }],
    [['serve', '--help'], { name: 'help', file: undefined, ...NONE }],
    [['check', '--prob'], { issue: "Unknown option '--prob'; did you mean --probe?" }],
    [['check', '--yes', '--confg=a.yaml'], { issue: "Unknown option '--confg'; did you mean --config?" }],
    [['check', '--config'], { issue: "Option '-c, --config <value>' argument missing" }],
    [['check', '-f', 'a.yaml'], { issue: "Unknown option '-f'" }],
    [['chek', 'a.yaml'], { issue: 'there is no command chek; did you mean portico check?' }],
    [['srve'], { issue: 'there is no command srve; did you mean portico serve?' }],
    [['frobnicate', '--config', 'x'], { issue: 'there is no command frobnicate' }],
    [['toString', '--config', 'x'], { issue: 'there is no command toString' }],
    [['help'], { issue: 'there is no command help; did you mean portico --help?' }],
    [['version'], { issue: 'there is no command version; did you mean portico --version?' }],
    [['demo'], { issue: 'there is no command demo; did you mean portico --demo?' }],
    [['start', 'a.yaml'], { issue: 'there is no command start; did you mean portico serve?' }],
    [['validate', 'a.yaml'], { issue: 'there is no command validate; did you mean portico check?' }],
    [['probe', 'a.yaml'], { issue: 'there is no command probe; did you mean portico check --probe?' }],
    [['a.yaml'], { issue: 'there is no command a.yaml; did you mean portico serve a.yaml?' }],
    [['serve', 'twice', '--config', 'x'], { issue: 'too many arguments: twice' }],
    [['check', 'a.yaml', 'b.yaml'], { issue: 'too many arguments: b.yaml' }],
    [['schema', 'a.yaml'], { issue: 'too many arguments: a.yaml' }],
    [['serve', '--config', ''], { issue: 'the name of the settings file is empty' }],
    [['check', '--json'], { issue: '--json goes with --probe' }],
    [['check', '--full', '--probe'], { issue: '--full and --probe exclude each other' }],
    [['serve', '--full'], { issue: 'serve takes no --full' }],
    [['--demo', '--config', 'x'], { issue: '--demo takes no other argument' }],
  ] as const) {
    it(`portico ${args.join(' ')}`, () => {
      expect(parseCommandLine([...args])).to.deep.equal(parsed);
    });
  }

  it('with an unknown option names it', () => {
    expect(parseCommandLine(['--nonsense']))
      .to.have.property('issue')
      .that.contains('--nonsense');
  });
});
