import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import { describeDocument } from '../../../src/setup/describe/openapi-document.ts';
import { chooseListings, openTerminal } from '../../../src/setup/init/person.ts';
import { propose } from '../../../src/setup/init/proposal.ts';
import { list, listing, openApi } from '../proposed.ts';

const description = describeDocument(
  openApi({
    '/projects': listing(list()),
    '/tools': listing(list(), { summary: 'All\u001b[31m tools' }),
    '/integrations': listing(list(), { summary: 'All integrations' }),
  }),
);
if (description === undefined) throw new Error('that is no OpenAPI document');
const proposal = propose(description, RESOURCES);

async function asked(...answers: string[]) {
  const printed: string[] = [];
  const person = { print: (text: string) => void printed.push(text), answer: async () => answers.shift() };
  const chosen = await chooseListings(proposal, person);
  const paths = [...chosen].map(([name, found]) => [name, found?.path ?? null] as const);
  return { chosen: Object.fromEntries(paths), printed: printed.join('') };
}

describe('a prompt', () => {
  it('which list it is, only where more than one could be', async () => {
    const { chosen, printed } = await asked('2');
    expect(chosen).to.deep.equal({ tools: '/integrations' });
    expect(printed).to.equal(
      'Which list is tools?\n  1  /tools  All[31m tools\n  2  /integrations  All integrations\n  0  none of them\n',
    );
  });

  it('and takes the best guess with the enter key, none with 0, and nothing once the input has ended', async () => {
    expect((await asked('')).chosen).to.deep.equal({ tools: '/tools' });
    expect((await asked('0')).chosen).to.deep.equal({ tools: null });
    expect((await asked()).chosen).to.deep.equal({});
  });

  it('again, where the answer is none of the numbers', async () => {
    const { chosen, printed } = await asked('x', '7', ' 1 ');
    expect(chosen).to.deep.equal({ tools: '/tools' });
    expect(printed.split('Type a number from 0 to 2.')).to.have.length(3);
  });
});

describe('a terminal', () => {
  it('shows text and questions, and returns the line that was typed', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const terminal = openTerminal(input, output, () => {});
    terminal.print('Which?\n');
    const answer = terminal.answer('[1] ');
    input.write('2\n');
    expect(await answer).to.equal('2');
    const last = terminal.answer('');
    input.end();
    expect([await last, await terminal.answer('')]).to.deep.equal([undefined, undefined]);
    output.end();
    expect(await text(output)).to.match(/^Which\?\n\[1\] /);
  });
});
