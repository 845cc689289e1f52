import { readFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { initSettings } from '../../../src/setup/init/init-command.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder } from '../../support/process/process.ts';
import { NAMES } from '../../support/resources.ts';
import { list, listing, openApi } from '../proposed.ts';

const ACME = 'https://api.acme.dev';
const TOKEN = 'very-secret-token';
const WITH_TOKEN = { PORTICO_TOKEN: TOKEN };

interface Run {
  readonly openapi?: string | undefined;
  readonly from?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly answers?: readonly string[];
  readonly readable?: boolean;
}

/**
 * Runs init in a folder of its own. `error` is empty if it succeeded, `yaml` if nothing was written. By default, the document
 * is a file that describes tools and integrations, there is no person at the terminal, and the probe can read the lists.
 */
function run({ from, environment = {}, answers, readable = true, ...given }: Run) {
  return inFolder(async (folder) => {
    const file = join(folder, 'portico.yaml');
    const document = join(folder, 'openapi.json');
    await writeFile(document, JSON.stringify(openApi({ '/tools': listing(list()), '/integrations': listing(list()) })));
    const left = [...(answers ?? [])];
    const asked: string[] = [];
    const printed: string[] = [];
    let probed = 0;
    const print = (text: string) => void printed.push(text);
    const answer = async (question: string) => {
      asked.push(question);
      return left.shift();
    };
    const person = answers === undefined ? undefined : { print, answer };
    const probe = async () => {
      probed += 1;
      return readable;
    };
    const { openapi } = 'openapi' in given ? given : { openapi: document };
    const done = initSettings({ openapi, from, file }, { environment, person, print, probe });
    const outcome = await done.then(
      (code) => ({ code, error: '' }),
      ({ message }: Error) => ({ code: undefined, error: message }),
    );
    const yaml = await readFile(file, 'utf8').catch(() => '');
    return { ...outcome, asked, probed, printed: printed.join(''), yaml };
  });
}

describe('init probes what it wrote', () => {
  for (const [name, given] of [
    ['only the document names the address', { answers: ['2'], environment: WITH_TOKEN }],
    ['there is no token', { from: `${ACME}/v1` }],
  ] as const) {
    it(`not if ${name}`, async () => {
      const { code, probed, printed } = await run(given);
      expect({ code, probed }).to.deep.equal({ code: 0, probed: 0 });
      expect(printed).to.contain('portico check --probe');
    });
  }

  it('if the person typed the address, and exits with 1 if it cannot be read', async () => {
    const given = { from: `${ACME}/v1`, environment: WITH_TOKEN };
    expect(await run(given)).to.deep.include({ code: 0, probed: 1, asked: [] });
    expect(await run({ ...given, readable: false })).to.deep.include({ code: 1, probed: 1 });
  });
});

describe('init writes', () => {
  it('the list that the person chose, and nothing if none fits', async () => {
    expect((await run({ answers: ['2'] })).yaml).to.contain('path: /integrations');
    expect(await run({ answers: ['0'] })).to.deep.include({ yaml: '', code: undefined });
  });

  it('the address of the document without its query', async () => {
    const { url } = await startHttpUpstream(json(openApi({ '/tools': listing(list()) })));
    const { yaml } = await run({ openapi: `${url}/openapi.json?key=very-secret` });
    expect(yaml).to.contain(`from ${url}/openapi.json.`).and.not.contain('very-secret');
  });

  it('nothing for an unusable server, and the server of --from instead', async () => {
    for (const server of [`${ACME}/\\`, `${ACME}\\`, 'ftp://acme.dev', 'https://', 'http://[::1']) {
      const document = openApi({ '/tools': listing(list()) }, { servers: [{ url: server }] });
      const { url } = await startHttpUpstream(json(document));
      const { error, yaml } = await run({ openapi: url });
      expect(error).to.equal(`${url}/: the server that it names is not an http or https URL; name it with --from`);
      expect(yaml).to.equal('');
      expect((await run({ openapi: url, from: ACME })).yaml).to.contain(`baseUrl: ${ACME}`);
    }
    expect((await run({ from: `${ACME}\\` })).error).to.contain('--from needs an http or https URL');
  });

  it('the host of a server whose path begins with two slashes', async () => {
    const servers = [{ url: `${ACME}//evil.example/` }];
    const { url } = await startHttpUpstream(json(openApi({ '/tools': listing(list()) }, { servers })));
    expect((await run({ openapi: url })).yaml).to.contain(`baseUrl: ${ACME}//evil.example`);
  });
});

describe('a document behind authentication', () => {
  const here = { servers: [{ url: '/' }] };
  const subset = openApi({ '/tools': listing(list()) }, here);
  const whole = openApi({ '/tools': listing(list()), '/flows': listing(list()) }, here);
  const withToken: (others: RequestListener) => RequestListener = (others) => (request, response) => {
    return (request.headers.authorization === `Bearer ${TOKEN}` ? json(whole) : others)(request, response);
  };
  const sentTo = ({ requests }: Awaited<ReturnType<typeof startHttpUpstream>>) =>
    requests.map(({ headers }) => headers.authorization);

  it('is read with PORTICO_TOKEN after a refusal, and that is printed', async () => {
    const upstream = await startHttpUpstream(withToken(json({}, 401)));
    const openapi = `${upstream.url}/openapi.json`;
    const { printed, yaml } = await run({ openapi, environment: WITH_TOKEN });
    expect(sentTo(upstream)).to.deep.equal([undefined, `Bearer ${TOKEN}`]);
    expect(yaml).to.contain('path: /flows');
    expect(printed).to.contain(`Read ${openapi} with PORTICO_TOKEN as Authorization: Bearer.`);
    expect(printed + yaml).not.to.contain(TOKEN);
  });

  it('is an error if PORTICO_TOKEN is missing or refused', async () => {
    const { url } = await startHttpUpstream(json({}, 403));
    const missing = `${url}/ requires a credential (403): put a token into PORTICO_TOKEN`;
    expect((await run({ openapi: url })).error).to.equal(missing);
    const { error } = await run({ openapi: url, environment: WITH_TOKEN });
    expect(error).to.equal(`${url}/ refused PORTICO_TOKEN as Authorization: Bearer (403)`);
  });

  it('can have a public subset: with a token the whole document is read', async () => {
    const { url } = await startHttpUpstream(withToken(json(subset)));
    expect((await run({ openapi: url })).yaml).not.to.contain('path: /flows');
    expect((await run({ openapi: url, environment: WITH_TOKEN })).yaml).to.contain('path: /flows');
  });

  it('does not receive the token from another host, nor does a redirect', async () => {
    const elsewhere = await startHttpUpstream(json(openApi({ '/tools': listing(list()) })));
    await run({ openapi: elsewhere.url, environment: WITH_TOKEN });
    expect(sentTo(elsewhere)).to.deep.equal([undefined]);
    const redirecting = await startHttpUpstream((request, response) => {
      const status = request.headers.authorization === undefined ? 401 : 302;
      response.writeHead(status, { location: `${elsewhere.url}/a?token=x` }).end();
    });
    const { error } = await run({ openapi: redirecting.url, environment: WITH_TOKEN });
    expect(error).to.equal(`${redirecting.url}/ redirects to ${elsewhere.url}/a: name that address`);
    expect(elsewhere.requests).to.have.length(1);
  });

  it('has no address contacted that it alone names, such as one of metadata', async () => {
    const servers = [{ url: 'http://169.254.169.254/latest/meta-data' }];
    const upstream = await startHttpUpstream(json(openApi({ '/tools': listing(list()) }, { servers })));
    const { printed, probed } = await run({ openapi: upstream.url, environment: WITH_TOKEN });
    expect(printed).to.contain('portico check --probe');
    expect(probed).to.equal(0);
    expect(sentTo(upstream)).to.deep.equal([undefined]);
  });
});

describe('init reports in one sentence, and writes nothing, if', () => {
  async function failure(given: Run): Promise<string> {
    const { error, printed, yaml } = await run({ openapi: undefined, ...given });
    expect([printed, yaml]).to.deep.equal(['', '']);
    expect(error.split('\n')).to.have.length(1);
    return error;
  }

  it('the document cannot be read', async () => {
    const { url } = await startHttpUpstream(json({ paths: {} }));
    const none = `${url}/a.json is not an OpenAPI document (2.0, 3.0 or 3.1) in JSON or YAML`;
    expect(await failure({ openapi: `${url}/a.json` })).to.equal(none);
    expect(await failure({ openapi: '/no/such/file' })).to.contain('/no/such/file cannot be read (ENOENT)');
    const missing = await startHttpUpstream(json({}, 404));
    expect(await failure({ openapi: `${missing.url}/a.json` })).to.contain('/a.json answered with 404');
    expect(await failure({ openapi: 'https://user:password@a.example/' }))
      .to.contain('--openapi needs an http or https URL without user and password')
      .and.not.contain('user:password');
  });

  it('no list fits a resource', async () => {
    for (const [paths, said] of [
      [['/users'], ': the one list there does not fit projects'],
      [['/users', '/teams'], ': none of the 2 lists fits projects'],
      [[], ': no list was found; config/examples/'],
    ] as const) {
      const document = openApi(Object.fromEntries(paths.map((path) => [path, listing(list())])));
      const { url } = await startHttpUpstream(json(document));
      expect(await failure({ openapi: url })).to.contain(said);
    }
  });

  it('the platform requires a token, or refuses it in each header', async () => {
    const { url } = await startHttpUpstream(json({}, 401));
    expect(await failure({ from: url })).to.contain('requires a credential (401): put a token into PORTICO_TOKEN');
    expect(await failure({ from: url, environment: WITH_TOKEN }))
      .to.contain('as Authorization: Bearer, as X-Api-Key, as Authorization: Token; for another header, write')
      .and.not.contain(TOKEN);
    const unsendable = await failure({ from: url, environment: { PORTICO_TOKEN: 'ä' } });
    expect(unsendable).to.contain('PORTICO_TOKEN contains characters that a header cannot carry');
    expect(await failure({ from: 'ftp://a.example' })).to.contain('--from needs an http or https URL');
  });

  const page = (status: number, body: string, headers: Record<string, string> = {}): RequestListener => {
    return (_request, response) => response.writeHead(status, headers).end(body);
  };
  const none = 'no list was found';
  const few = `the one list there does not fit ${NAMES.slice(0, -1).join(', ')} or ${NAMES.at(-1)} with a known way of paging`;
  for (const [what, reply, said] of [
    ['HTML', page(200, '<html>', { 'content-type': 'text/html' }), none],
    ['no body', page(204, ''), none],
    ['JSON without a list', json({ count: 0 }), none],
    ['an empty list', json({ projects: [] }), few],
  ] as const) {
    it(`the platform answers with ${what}`, async () => {
      const { url } = await startHttpUpstream(reply);
      const sentence = `${url}/projects: ${said}; config/examples/ has files to start from`;
      expect(await failure({ from: `${url}/projects` })).to.equal(sentence);
    });
  }
});
