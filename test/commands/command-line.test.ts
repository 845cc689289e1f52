import { expect } from 'chai';
import { parseCommandLine } from '../../src/commands/command-line.ts';

describe('a command line', () => {
  for (const [args, parsed] of [
    [[], { name: 'serve', file: undefined, full: false }],
    [['--config', 'a.yaml'], { name: 'serve', file: 'a.yaml', full: false }],
    [['serve', '-c', 'a.yaml'], { name: 'serve', file: 'a.yaml', full: false }],
    [['serve', 'a.yaml'], { name: 'serve', file: 'a.yaml', full: false }],
    [['stdio', '--config=a.yaml'], { name: 'stdio', file: 'a.yaml', full: false }],
    [['stdio'], { name: 'stdio', file: undefined, full: false }],
    [['check'], { name: 'check', file: undefined, full: false }],
    [['check', 'a.yaml', '--full'], { name: 'check', file: 'a.yaml', full: true }],
    [['schema'], { name: 'schema', file: undefined, full: false }],
    [['--demo'], { name: 'demo', file: undefined, full: false }],
    [['--help'], { name: 'help', file: undefined, full: false }],
    [['-v'], { name: 'version', file: undefined, full: false }],
    [['serve', '--help'], { name: 'help', file: undefined, full: false }],
    [['frobnicate', '--config', 'x'], { issue: 'there is no command frobnicate' }],
    [['toString', '--config', 'x'], { issue: 'there is no command toString' }],
    [['help'], { issue: 'there is no command help' }],
    [['a.yaml'], { issue: 'there is no command a.yaml; did you mean portico serve a.yaml?' }],
    [['serve', 'twice', '--config', 'x'], { issue: 'too many arguments: twice' }],
    [['check', 'a.yaml', 'b.yaml'], { issue: 'too many arguments: b.yaml' }],
    [['schema', 'a.yaml'], { issue: 'too many arguments: a.yaml' }],
    [['serve', '--config', ''], { issue: 'the name of the settings file is empty' }],
    [['serve', '--full'], { issue: 'serve takes no --full' }],
    [['--demo', '--config', 'x'], { issue: '--demo takes no other argument' }],
  ] as const) {
    it(`portico ${args.join(' ')}`, () => {
      expect(parseCommandLine([...args])).to.deep.equal(parsed);
    });
  }

  it('with an unknown option says which', () => {
    expect(parseCommandLine(['--nonsense']))
      .to.have.property('issue')
      .that.contains('--nonsense');
  });
});
