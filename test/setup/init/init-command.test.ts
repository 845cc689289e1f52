import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { initSettings } from '../../../src/setup/init/init-command.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { newFolder } from '../../support/process/process.ts';
import { list, listing, openApi } from './proposed.ts';

const ACME = 'https://api.acme.dev';
const PATHS = { '/tools': listing(list()), '/jobs': listing(list()), '/integrations/{id}/logs': listing(list()) };

/** Runs init on a document in a file, or at an address. */
async function run(document: object | string, given: { exists?: boolean } = {}) {
  const folder = await newFolder();
  const [file, source] = [join(folder, 'portico.yaml'), join(folder, 'openapi.json')];
  if (typeof document !== 'string') await writeFile(source, JSON.stringify(document));
  if (given.exists) await writeFile(file, 'kept');
  const openapi = typeof document === 'string' ? document : source;
  const printed = await initSettings({ openapi, file }).catch((error: Error) => error.message);
  return { printed: printed.replaceAll(`${folder}/`, ''), yaml: await readFile(file, 'utf8').catch(() => '') };
}

describe('portico init', () => {
  it('fills in what is clear, and says what is not', async () => {
    const { printed, yaml } = await run(openApi(PATHS));
    expect(yaml).to.contain('path: /tools').and.contain('\n    # path: /jobs');
    expect(printed).to.contain('portico.yaml: written from openapi.json');
    expect(printed).to.contain('projects: disabled, no list in the document looks like it');
    expect(printed).to.contain('workflows: disabled, no choice is clear; the candidate is in the file, commented out');
    expect(printed).to.contain('tools: GET /tools');
    expect(printed).to.contain('credential: not clear: the document names no security scheme');
  });

  it('takes the server of the document, or a placeholder for the environment', async () => {
    const at = async (url: string) => (await run(openApi(PATHS, { servers: [{ url }] }))).yaml;
    expect(await at(`${ACME}/v1/`)).to.contain(`baseUrl: ${ACME}/v1\n`);
    for (const url of ['https://{tenant}.acme.dev/v1', 'https://your-tenant.acme.dev/v1', '/v1', 'ftp://acme.dev/v1']) {
      expect(await at(url), url).to.match(/baseUrl: "?\$\{PLATFORM_URL\}\/v1"?\n/);
    }
  });

  it('reads a document at an address, without a credential, and does not write its query', async () => {
    const upstream = await startHttpUpstream(json(openApi(PATHS, { servers: [{ url: '/api' }] })));
    const { yaml } = await run(`${upstream.url}/openapi.json?key=very-secret`);
    expect(yaml).to.contain(`baseUrl: ${upstream.url}/api\n`).and.not.contain('very-secret');
    expect(upstream.requests.map(({ headers }) => headers.authorization)).to.deep.equal([undefined]);
  });

  it('writes nothing, and says why, if a document cannot be used', async () => {
    const refusing = await startHttpUpstream(json({}, 401));
    const moved = await startHttpUpstream(json({}, 302, { location: 'https://elsewhere.example/' }));
    for (const [document, why] of [
      [refusing.url, 'answered with 401'],
      [moved.url, 'answered with 302'],
      ['http://127.0.0.1:1/openapi.json', 'cannot be read: bad port'],
      ['/nowhere/openapi.json', 'cannot be read: no such file or directory'],
      ['https://user:secret@acme.dev/', '--openapi needs an http or https URL without user and password'],
      [{ swagger: '2.0' }, 'is not an OpenAPI document'],
    ] as const) {
      const { printed, yaml } = await run(document);
      expect(printed).to.contain(why);
      expect(yaml).to.equal('');
    }
  });

  it('replaces no file', async () => {
    const { printed, yaml } = await run(openApi(PATHS), { exists: true });
    expect(printed).to.contain('portico.yaml exists and is not replaced');
    expect(yaml).to.equal('kept');
  });
});
