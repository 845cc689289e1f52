import { readFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { SourceError } from '../../../src/setup/init/fetch-text.ts';
import { initSettings } from '../../../src/setup/init/init-command.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder } from '../../support/process/process.ts';
import { NAMES } from '../../support/resources.ts';
import { list, listing, openApi } from '../proposed.ts';

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
    expect(asked[1]).to.equal('Send the token in PORTICO_TOKEN to https://api.acme.dev and read the lists? [y/N] ');
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

describe('why nothing is proposed is told in one sentence, and nothing is written, where', () => {
  async function failure(where: { openapi?: string; from?: string }, environment = {}): Promise<string> {
    return inFolder(async (folder) => {
      const file = join(folder, 'portico.yaml');
      const printed: string[] = [];
      const surroundings = { environment, print: (text: string) => printed.push(text), probe: async () => true };
      const options = { openapi: where.openapi, from: where.from, file };
      const error = await initSettings(options, surroundings).catch((reason: unknown) => reason);
      if (!(error instanceof SourceError)) throw new Error('settings were proposed', { cause: error });
      expect(printed).to.deep.equal([]);
      expect(await readFile(file, 'utf8').catch(() => undefined)).to.equal(undefined);
      expect(error.message.split('\n')).to.have.length(1);
      return error.message;
    });
  }

  it('the document is none', async () => {
    const { url } = await startHttpUpstream(json({ paths: {} }));
    expect(await failure({ openapi: `${url}/a.json` })).to.equal(
      `${url}/a.json is not an OpenAPI document (2.0, 3.0 or 3.1) in JSON or YAML`,
    );
    expect(await failure({ openapi: 'package.json' })).to.contain('package.json is not an OpenAPI document');
    expect(await failure({ openapi: '/no/such/file' })).to.contain('/no/such/file cannot be read (ENOENT)');
  });

  it('the document is not to be had', async () => {
    const { url } = await startHttpUpstream(json({}, 404));
    expect(await failure({ openapi: `${url}/a.json` })).to.contain('/a.json answered with 404');
    expect(await failure({ openapi: 'https://user:password@a.example/' }))
      .to.contain('--openapi needs an http or https URL without user and password')
      .and.not.contain('user:password');
  });

  it('no list seems to be a resource', async () => {
    const { url } = await startHttpUpstream(json(openApi({ '/users': listing(list()) })));
    expect(await failure({ openapi: url })).to.contain(': the one list there does not fit projects');
    const { url: two } = await startHttpUpstream(
      json(openApi({ '/users': listing(list()), '/teams': listing(list()) })),
    );
    expect(await failure({ openapi: two })).to.contain(': none of the 2 lists fits projects');
    const { url: none } = await startHttpUpstream(json(openApi({})));
    expect(await failure({ openapi: none })).to.contain(': no list was found; config/examples/');
  });

  it('the platform asks for a token, or refuses it in each header', async () => {
    const { url } = await startHttpUpstream(json({}, 401));
    expect(await failure({ from: url })).to.contain('requires a credential (401): put a token into PORTICO_TOKEN');
    expect(await failure({ from: url }, TOKEN))
      .to.contain(
        'refused the token of PORTICO_TOKEN as Authorization: Bearer, as X-Api-Key, as Authorization: Token; for another header, write the settings by hand, with credential: { kind: header, name: … }',
      )
      .and.not.contain(TOKEN.PORTICO_TOKEN);
    expect(await failure({ from: url }, { PORTICO_TOKEN: 'ä' })).to.contain(
      'PORTICO_TOKEN contains characters that a header cannot',
    );
    expect(await failure({ from: 'ftp://a.example' })).to.contain('--from needs an http or https URL');
  });

  const nowhere = 'no list was found; the address answers with';
  const page = (status: number, body: string, headers: Record<string, string> = {}): RequestListener => {
    return (_request, response) => response.writeHead(status, headers).end(body);
  };
  const replies: readonly (readonly [string, RequestListener, string])[] = [
    [
      'HTML',
      page(200, '<html>', { 'content-type': 'text/html' }),
      `${nowhere} 200 and a body that is not JSON (text/html)`,
    ],
    ['text of no type', page(404, 'no'), `${nowhere} 404 and a body that is not JSON (without a type)`],
    ['no body', page(204, ''), `${nowhere} 204 and no body`],
    ['JSON without a list', json({ count: 0 }), `${nowhere} 200 and JSON`],
    [
      'an empty list',
      json({ projects: [] }),
      `the one list there does not fit ${NAMES.slice(0, -1).join(', ')} or ${NAMES.at(-1)} with a known way of paging; fewer than two items are too few to recognize pages`,
    ],
  ];
  for (const [what, reply, said] of replies) {
    it(`the platform answers with ${what}`, async () => {
      const { url } = await startHttpUpstream(reply);
      expect(await failure({ from: `${url}/projects` })).to.equal(
        `${url}/projects: ${said}; config/examples/ has files to begin with`,
      );
    });
  }
});
