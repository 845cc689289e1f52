import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { initSettings } from '../../../src/commands/init/init.ts';
import { list, listing, openApi } from '../../init/proposed.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder } from '../../support/process/process.ts';

const DOCUMENT = openApi({ '/tools': listing(list()), '/integrations': listing(list()) });
const TOKEN = { PORTICO_TOKEN: 'a-token' };

interface Run {
  readonly from?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly answers?: readonly string[];
  readonly readable?: boolean;
}

/** Proposes settings from the document, with somebody who answers, and tells what came of it. */
function propose({ from, environment = TOKEN, answers, readable = true }: Run) {
  return inFolder(async (folder) => {
    const [openapi, file] = [join(folder, 'openapi.json'), join(folder, 'portico.yaml')];
    await writeFile(openapi, JSON.stringify(DOCUMENT));
    const left = [...(answers ?? [])];
    const asked: string[] = [];
    const probed: string[] = [];
    const printed: string[] = [];
    const print = (text: string) => {
      printed.push(text);
    };
    const answer = async (question: string) => {
      asked.push(question);
      return left.shift();
    };
    const probe = async (each: string) => {
      probed.push(each);
      return readable;
    };
    const person = answers === undefined ? undefined : { print, answer };
    const code = await initSettings({ openapi, from, file }, { environment, person, print, probe });
    return { code, asked, probed: probed.length, printed: printed.join(''), yaml: await readFile(file, 'utf8') };
  });
}

describe('a proposal is probed', () => {
  it('with the token where a person says yes to the address that the document names', async () => {
    const { code, asked, probed } = await propose({ answers: ['2', 'y'] });
    expect({ code, probed }).to.deep.equal({ code: 0, probed: 1 });
    expect(asked[1]).to.equal('Send the token in PORTICO_TOKEN to https://api.acme.dev, to see what comes? [y/N] ');
  });

  for (const [name, run] of [
    ['the person says anything else', { answers: ['', ''] }],
    ['the input ends', { answers: [] }],
    ['nobody can be asked', {}],
    ['there is no token', { answers: ['1'], environment: {} }],
  ] as const) {
    it(`not where ${name}`, async () => {
      const { code, probed, printed } = await propose(run);
      expect({ code, probed }).to.deep.equal({ code: 0, probed: 0 });
      expect(printed).to.contain('portico check --probe');
    });
  }

  it('without a question where a person named the address, and fails where it cannot be read', async () => {
    const run = { from: 'https://api.acme.dev/v1' };
    expect(await propose(run)).to.deep.include({ code: 0, probed: 1, asked: [] });
    expect(await propose({ ...run, readable: false })).to.deep.include({ code: 1, probed: 1 });
  });

  it('and has what the person chose', async () => {
    const { yaml } = await propose({ answers: ['2'] });
    expect(yaml).to.contain('path: /integrations');
  });
});

describe('a proposal', () => {
  it('names its source without what may be secret of it', async () => {
    const { url } = await startHttpUpstream(json(DOCUMENT));
    await inFolder(async (folder) => {
      const file = join(folder, 'portico.yaml');
      const quiet = { environment: {}, print: () => {}, probe: async () => true };
      await initSettings({ openapi: `${url}/openapi.json?key=very-secret`, from: undefined, file }, quiet);
      expect(await readFile(file, 'utf8'))
        .to.contain(`from ${url}/openapi.json.`)
        .and.not.contain('very-secret');
    });
  });
});
