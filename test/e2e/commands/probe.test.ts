import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { loadSettings } from '../../../src/composition.ts';
import { runProbe } from '../../../src/setup/probe/probe-command.ts';
import type { ProbeReport } from '../../../src/setup/probe/probe-report.ts';
import { byOffset, FIELDS, OFFSET, settings, TOKEN } from '../../setup/probe/probed.ts';
import { startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { settingsFile } from '../../support/process/process.ts';
import { servedFrom } from '../../support/process/serving.ts';

describe('portico check --probe', () => {
  it('shows the request, the pages, and the first item before and after mapping', async () => {
    const { url } = await startHttpUpstream(byOffset);
    const file = await settingsFile(settings(`${OFFSET}, ${FIELDS}`).replaceAll('BASE', url));
    const { text, ok } = await runProbe(file, await loadSettings(file, { PORTICO_TOKEN: TOKEN }));
    expect(ok).to.equal(true);
    const lines = stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.trim());
    for (const line of [
      'uri: platform://projects',
      'upstream: acme',
      `url: ${url}/v2/workspaces?limit=100&skip=0`,
      'authorization: Bearer [credential]',
      'pages: 3',
      'items: 60',
      '- "data.count: 60"',
      'extraRequests: 2',
      'title: W 0',
      'createTime: 2026-01-02T03:04:05Z',
      'warning: description is empty in every item',
      `${file}: OK: 1 of 1 resources could be read, with 1 warning`,
    ]) {
      expect(lines).to.include(line);
    }
  });

  it('sends the same requests as serve, and prints JSON for --json', async () => {
    const upstream = await startHttpUpstream(byOffset);
    const yaml = settings(`${OFFSET}, ${FIELDS}`).replaceAll('BASE', upstream.url);
    const file = await settingsFile(`http: { port: 0 }\nadmin: { port: 0 }\n${yaml}`);
    const seen = () =>
      upstream.requests.map(({ url, headers }) => ({ url, headers: { ...headers, 'x-request-id': '' } }));
    const loaded = await loadSettings(file, { PORTICO_TOKEN: TOKEN });
    const { text } = await runProbe(file, loaded, { json: true });
    const { ok, resources }: ProbeReport = JSON.parse(text);
    expect(ok).to.equal(true);
    expect(resources[0]).to.deep.include({ resource: 'projects', ok: true, pages: 3, items: 60 });
    const all = seen();
    // Three pages, and one request that confirms the end.
    const probed = all.slice(0, 4);
    const { read } = await startGateway(loaded.settings);
    await read('projects', { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(seen().slice(all.length)).to.deep.equal(probed);
  });

  it('reads every offered resource, and fails when one fails', async () => {
    const { url } = await startHttpUpstream((request, response) => {
      if (request.url?.startsWith('/v1/tools') === true) json({ error: 'no such path' }, 404)(request, response);
      else json({ projects: [], workflows: [], nextPageToken: '' })(request, response);
    });
    const file = await settingsFile(servedFrom(url));
    const { text, ok } = await runProbe(file, await loadSettings(file, { PORTICO_TOKEN: TOKEN }));
    expect(ok).to.equal(false);
    expect(stripVTControlCharacters(text))
      .to.contain('code: upstream_refused')
      .and.contain(`said: '{"error":"no such path"}'`)
      .and.match(/: FAILED: 2 of 3 resources could be read, with 4 warnings\n$/);
  });
});
