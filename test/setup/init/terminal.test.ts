import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { openTerminal } from '../../../src/setup/init/person.ts';

function terminal() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  return { input, output, opened: openTerminal({ input, output, onInterrupt: () => {} }) };
}

describe('whoever sits at a terminal', () => {
  it('is shown what is printed and asked, and answers with a line', async () => {
    const { input, output, opened } = terminal();
    opened.print('Which?\n');
    const answer = opened.answer('[1] ');
    input.write('2\n');
    expect(await answer).to.equal('2');
    opened.close();
    output.end();
    expect(await text(output)).to.equal('Which?\n[1] ');
  });

  it('has no answer once the input has ended', async () => {
    const { input, opened } = terminal();
    const answer = opened.answer('[1] ');
    input.end();
    expect(await answer).to.equal(undefined);
    expect(await opened.answer('[1] ')).to.equal(undefined);
  });
});
