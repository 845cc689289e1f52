import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { ONE_PAGE, probedOne, settings } from './probed.ts';

/** What a probe says of a platform that does this. */
const errorOf = async (handler: RequestListener) => (await probedOne(handler, ONE_PAGE)).error;

describe('a probe of a platform that refuses', () => {
  for (const [credential, header] of [
    ['', 'authorization'],
    [', credential: { kind: header, name: X-Api-Key }', 'x-api-key'],
  ] as const) {
    it(`shows the header that held the token: ${header}`, async () => {
      const headers = { 'www-authenticate': 'ApiKey realm="x"' };
      const handler = json({ error: 'who?' }, 401, headers);
      const { error, request } = await probedOne(handler, settings('pagination: { kind: none }', credential));
      const why = { code: 'credential_rejected', reason: 'answered with status 401', said: '{"error":"who?"}' };
      expect(error).to.deep.include({ ...why, headers });
      expect(request?.headers).to.have.property(header).that.contains('[credential]');
    });
  }

  it('reports a redirect and does not follow it', async () => {
    const error = await errorOf((_request, response) => response.writeHead(302, { location: '/login' }).end());
    expect(error).to.deep.include({ headers: { location: '/login' } });
  });

  it('shows the beginning of the reply, in any coding', async () => {
    const page = gzipSync(`<p>limit must be 50</p>${' x'.repeat(1000)}`);
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
    const error = await errorOf((_request, response) => response.writeHead(400, headers).end(page));
    expect(error?.said)
      .to.match(/^<p>limit must be 50<\/p>.*…$/)
      .and.have.length(300);
  });

  it('shows nothing of what cannot be decoded', async () => {
    const coding = { 'content-encoding': 'gzip' };
    const error = await errorOf((_request, response) => response.writeHead(400, coding).end('no gzip'));
    expect(error).to.deep.include({ code: 'upstream_refused', reason: 'answered with status 400' });
    expect(error).not.to.have.property('said');
  });

  it('shows a bounded part of an answer without end', async () => {
    const error = await errorOf((_request, response) => response.writeHead(400).write('x'.repeat(5_000_000)));
    expect(error?.said).to.equal(`${'x'.repeat(299)}…`);
  });

  it('shows a page in which nothing looks like a list, and no page of which more is shown', async () => {
    for (const body of [{ success: false, error: 'no such view' }, { projects: 'none' }, { id: 'a', name: 'one' }]) {
      const { error } = await probedOne(json(body), ONE_PAGE);
      expect(error).to.deep.include({ code: 'upstream_invalid', said: JSON.stringify(body) });
    }
    const failed = { data: null, errors: [{ message: 'no field projects' }] };
    expect(await errorOf(json(failed))).to.deep.include({ code: 'upstream_invalid', said: JSON.stringify(failed) });
    for (const body of [{ data: [{ id: 'a', name: 'one' }] }, { projects: [{ id: '', name: 'one' }] }]) {
      expect(await errorOf(json(body)))
        .to.have.property('code')
        .and.not.to.have.property('said');
    }
  });

  it('reports a refused connection', async () => {
    const { url, close } = await startHttpUpstream(json({}));
    await close();
    const report = await probedOne(json({}), ONE_PAGE.replace('BASE', url));
    expect(report.error).to.include({ code: 'upstream_failed', reason: 'the connection was refused' });
    expect(report).not.to.have.property('response');
  });
});
