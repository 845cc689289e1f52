import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { probedOne, settings } from './probed.ts';

describe('a probe of a platform that refuses', () => {
  for (const [credential, header] of [
    ['', 'authorization'],
    [', credential: { kind: header, name: X-Api-Key }', 'x-api-key'],
  ] as const) {
    it(`names the header that held the token: ${header}`, async () => {
      const handler = json({ error: 'who?' }, 401, { 'www-authenticate': 'ApiKey realm="x"' });
      const report = await probedOne(handler, settings('pagination: { kind: none }', credential));
      expect(report.error).to.deep.equal({
        code: 'credential_rejected',
        reason: 'answered with status 401',
        said: '{"error":"who?"}',
        headers: { 'www-authenticate': 'ApiKey realm="x"' },
        credentialHeaders: [header],
      });
    });
  }

  it('reports a redirect and does not follow it', async () => {
    const handler: RequestListener = (_request, response) => response.writeHead(302, { location: '/login' }).end();
    const report = await probedOne(handler, settings('pagination: { kind: none }'));
    expect(report.error).to.deep.include({ headers: { location: '/login' } });
  });

  it('shows the beginning of the reply, in any coding', async () => {
    const handler: RequestListener = (_request, response) => {
      response.writeHead(400, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
      response.end(gzipSync(`<p>limit must be 50</p>${' x'.repeat(1000)}`));
    };
    const report = await probedOne(handler, settings('pagination: { kind: none }'));
    expect(report.error?.said)
      .to.match(/^<p>limit must be 50<\/p>.*…$/)
      .and.have.length(300);
  });

  it('shows nothing of what cannot be decoded', async () => {
    const handler: RequestListener = (_request, response) => {
      response.writeHead(400, { 'content-encoding': 'gzip' }).end('no gzip');
    };
    const report = await probedOne(handler, settings('pagination: { kind: none }'));
    expect(report.error).to.deep.equal({ code: 'upstream_refused', reason: 'answered with status 400' });
  });

  it('shows a bounded part of an answer without end', async () => {
    const handler: RequestListener = (_request, response) => {
      response.writeHead(400).write('x'.repeat(5_000_000));
    };
    const report = await probedOne(handler, settings('pagination: { kind: none }'));
    expect(report.error?.said).to.equal(`${'x'.repeat(299)}…`);
  });

  it('shows a page in which nothing looks like a list, and no page of which more is shown', async () => {
    const none = settings('pagination: { kind: none }');
    for (const body of [{ success: false, error: 'no such view' }, { projects: null }, { id: 'a', name: 'one' }]) {
      const { error, suggestions } = await probedOne(json(body), none);
      expect(suggestions).to.deep.equal([]);
      expect(error).to.deep.include({ code: 'upstream_invalid', said: JSON.stringify(body) });
    }
    const failed = await probedOne(json({ data: null, errors: [{ message: 'no field projects' }] }), none);
    expect(failed.error).to.deep.include({
      code: 'upstream_failed',
      said: '{"data":null,"errors":[{"message":"no field projects"}]}',
    });
    for (const body of [{ data: [{ id: 'a', name: 'one' }] }, { projects: [{ id: '', name: 'one' }] }]) {
      expect((await probedOne(json(body), none)).error)
        .to.have.property('code')
        .and.not.to.have.property('said');
    }
  });

  it('reports a refused connection', async () => {
    const { url, close } = await startHttpUpstream(json({}));
    await close();
    const report = await probedOne(json({}), settings('pagination: { kind: none }').replace('BASE', url));
    expect(report.error).to.deep.equal({ code: 'upstream_failed', reason: 'the connection was refused' });
    expect(report).not.to.have.property('response');
  });
});
