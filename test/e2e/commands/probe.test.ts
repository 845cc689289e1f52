import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import type { ProbeReport } from '../../../src/setup/probe/probe-report.ts';
import { byOffset, FIELDS, OFFSET, settings, TOKEN } from '../../setup/probe/probed.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { runPortico } from '../../support/process/process.ts';
import { settingsFile } from '../../support/process/serving.ts';

/** Runs `portico check --probe` over settings in which BASE is the platform. */
async function run(handler: RequestListener, yaml: string) {
  const { url } = await startHttpUpstream(handler);
  const file = await settingsFile(yaml.replaceAll('BASE', url));
  const { code, stdout, stderr } = await runPortico(['check', '--probe', file], { PORTICO_TOKEN: TOKEN }).ended;
  return { code, stdout: stdout.replaceAll(url, 'BASE').replaceAll(file, 'FILE'), stderr };
}

describe('portico check --probe', () => {
  it('shows the request, the pages, and the first item before and after mapping', async () => {
    const { code, stdout, stderr } = await run(byOffset, settings(`${OFFSET}, ${FIELDS}`));
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = stdout
      .replace(/\d+(\.\d+)? ms/g, 'N ms')
      .split('\n')
      .map((line) => line.trim());
    for (const line of [
      'projects  platform://projects, upstream acme',
      'GET BASE/v2/workspaces?limit=100&skip=0',
      'authorization: Bearer [credential]',
      '60 items of 3 pages after N ms',
      'the first page shows: data.count is 60',
      '2 requests more for experiments',
      '"title": "W 0",',
      'createTime (at)      2026-01-02T03:04:05Z',
      'warning: description is empty in every item',
      'FILE: OK: 1 of 1 resources could be read, with 1 warning',
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
    const { stdout } = await runPortico(['check', '--probe', file, '--json'], { PORTICO_TOKEN: TOKEN }).ended;
    const { ok, resources }: ProbeReport = JSON.parse(stdout);
    expect(ok).to.equal(true);
    expect(resources[0]).to.deep.include({ resource: 'projects', ok: true, pages: 3, items: 60 });
    const all = seen();
    // Three pages, and one request that confirms the end.
    const probed = all.slice(0, 4);
    const portico = runPortico(['serve', file]);
    const headers = { authorization: `Bearer ${TOKEN}` };
    await fetch(`${await portico.ready}/mcp/v1/resources/read?uri=platform://projects`, { headers });
    expect(seen().slice(all.length)).to.deep.equal(probed);
    await portico.stop();
  });

  it('reads every offered resource, and exits with 1 when one fails', async () => {
    const handler: RequestListener = (request, response) => {
      if (request.url?.startsWith('/v1/tools') === true) json({ error: 'no such path' }, 404)(request, response);
      else json({ projects: [], workflows: [], nextPageToken: '' })(request, response);
    };
    const base = '{ baseUrl: BASE }';
    const { code, stdout } = await run(handler, `upstreams: { projects: ${base}, workflows: ${base}, tools: ${base} }`);
    expect(code).to.equal(1);
    expect(stdout)
      .to.contain('upstream_refused: answered with status 404')
      .and.contain('the platform said: {"error":"no such path"}')
      .and.match(/FILE: FAILED: 2 of 3 resources could be read, with 4 warnings\n$/);
  });
});
