import { expect } from 'chai';
import { parseCommandLine } from '../../src/commands/command-line.ts';

describe('a command line', () => {
  for (const [args, parsed] of [
    [['--config', 'a.yaml'], { name: 'serve', config: 'a.yaml' }],
    [['serve', '-c', 'a.yaml'], { name: 'serve', config: 'a.yaml' }],
    [['stdio', '--config=a.yaml'], { name: 'stdio', config: 'a.yaml' }],
    [['check', '--config', 'a.yaml'], { name: 'check', config: 'a.yaml' }],
    [['schema'], { name: 'schema', config: '' }],
    [['--demo'], { name: 'demo', config: '' }],
    [['--help'], { name: 'help', config: '' }],
    [['-v'], { name: 'version', config: '' }],
    [['serve', '--help'], { name: 'help', config: '' }],
    [[], { issue: 'serve needs --config FILE' }],
    [['stdio'], { issue: 'stdio needs --config FILE' }],
    [['frobnicate', '--config', 'x'], { issue: 'there is no command frobnicate' }],
    [['toString', '--config', 'x'], { issue: 'there is no command toString' }],
    [['help'], { issue: 'there is no command help' }],
    [['serve', 'twice', '--config', 'x'], { issue: 'too many arguments: twice' }],
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
