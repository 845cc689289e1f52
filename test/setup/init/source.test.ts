import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { initSettings } from '../../../src/setup/init/init-command.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder } from '../../support/process/process.ts';
import { list, listing, openApi } from '../proposed.ts';

const TOKEN = 'very-secret-token';
const HERE = { servers: [{ url: '/' }] };
const PUBLIC = openApi({ '/tools': listing(list()) }, HERE);
const WHOLE = openApi({ '/tools': listing(list()), '/flows': listing(list()) }, HERE);

/** Runs init with the document at this address, and resolves with what was printed, written or thrown. */
function run(openapi: string, environment: Readonly<Record<string, string>>, from?: string) {
  return inFolder(async (folder) => {
    const file = join(folder, 'portico.yaml');
    const printed: string[] = [];
    const print = (each: string) => printed.push(each);
    let probed = 0;
    const probe = async () => {
      probed += 1;
      return true;
    };
    const error = await initSettings({ openapi, from, file }, { environment, print, probe }).then(
      () => '',
      (reason: Error) => reason.message,
    );
    return { error, probed, printed: printed.join(''), yaml: await readFile(file, 'utf8').catch(() => '') };
  });
}

const withToken: (others: RequestListener) => RequestListener = (others) => (request, response) => {
  return (request.headers.authorization === `Bearer ${TOKEN}` ? json(WHOLE) : others)(request, response);
};

describe('a document behind authentication', () => {
  it('is read with PORTICO_TOKEN where it is refused without, and that is printed', async () => {
    const { url, requests } = await startHttpUpstream(withToken(json({}, 401)));
    const { printed, yaml } = await run(`${url}/openapi.json`, { PORTICO_TOKEN: TOKEN });
    expect(requests.map(({ headers }) => headers.authorization)).to.deep.equal([undefined, `Bearer ${TOKEN}`]);
    expect(yaml).to.contain('path: /flows');
    expect(printed).to.contain(`Read ${url}/openapi.json with PORTICO_TOKEN as Authorization: Bearer.`);
    expect(printed + yaml).not.to.contain(TOKEN);
  });

  it('says that PORTICO_TOKEN is missing, or was refused', async () => {
    const { url } = await startHttpUpstream(json({}, 403));
    expect((await run(url, {})).error).to.equal(`${url}/ requires a credential (403): put a token into PORTICO_TOKEN`);
    const { error } = await run(url, { PORTICO_TOKEN: TOKEN });
    expect(error).to.equal(`${url}/ refused PORTICO_TOKEN as Authorization: Bearer (403)`);
  });

  it('may have a public subset: with a token the whole one is read, without one that is said', async () => {
    const { url } = await startHttpUpstream(withToken(json(PUBLIC)));
    const { printed, yaml } = await run(url, {});
    expect(yaml).not.to.contain('path: /flows');
    expect(printed).to.contain(
      'the document can be a public subset, since it was read without a token; set PORTICO_TOKEN',
    );
    const whole = await run(url, { PORTICO_TOKEN: TOKEN });
    expect(whole.yaml).to.contain('path: /flows');
  });

  it('gives the token to no host that publishes the document of another one', async () => {
    const elsewhere = openApi({ '/tools': listing(list()) });
    const { url, requests } = await startHttpUpstream(json(elsewhere));
    await run(url, { PORTICO_TOKEN: TOKEN });
    expect(requests.map(({ headers }) => headers.authorization)).to.deep.equal([undefined]);
  });

  it('gives the token to no address that the document is redirected to', async () => {
    const other = await startHttpUpstream(json(WHOLE));
    const { url } = await startHttpUpstream((request, response) => {
      const status = request.headers.authorization === undefined ? 401 : 302;
      response.writeHead(status, { location: `${other.url}/a` }).end();
    });
    expect((await run(url, { PORTICO_TOKEN: TOKEN })).error).to.contain('redirects to');
    expect(other.requests).to.deep.equal([]);
  });

  it('has no address contacted that it alone names, such as one of metadata', async () => {
    const servers = [{ url: 'http://169.254.169.254/latest/meta-data' }];
    const { url, requests } = await startHttpUpstream(json(openApi({ '/tools': listing(list()) }, { servers })));
    const { printed, probed } = await run(url, { PORTICO_TOKEN: TOKEN });
    expect(printed).to.contain('portico check --probe');
    expect(probed).to.equal(0);
    expect(requests.map(({ headers }) => headers.authorization)).to.deep.equal([undefined]);
  });
});

describe('a server that is no address', () => {
  for (const server of [
    'https://api.acme.dev/\\',
    'https://api.acme.dev\\',
    'ftp://acme.dev',
    'https://',
    'http://[::1',
  ]) {
    it(`is an error in one sentence: ${server}`, async () => {
      const { url } = await startHttpUpstream(
        json(openApi({ '/tools': listing(list()) }, { servers: [{ url: server }] })),
      );
      const { error, yaml } = await run(url, {});
      expect(error).to.equal(`${url}/: the server that it names is not an http or https URL; name it with --from`);
      expect(yaml).to.equal('');
      expect((await run(url, {}, 'https://api.acme.dev')).yaml).to.contain('baseUrl: https://api.acme.dev');
    });
  }

  it('is an error with --from too', async () => {
    const { error } = await run('package.json', {}, 'https://api.acme.dev\\');
    expect(error).to.contain('--from needs an http or https URL');
  });

  it('keeps its host where its path begins with two slashes', async () => {
    const document = openApi(
      { '/tools': listing(list()) },
      { servers: [{ url: 'https://api.acme.dev//evil.example/' }] },
    );
    const { url } = await startHttpUpstream(json(document));
    expect((await run(url, {})).yaml).to.contain('baseUrl: https://api.acme.dev//evil.example');
  });
});
