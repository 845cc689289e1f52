import { expect } from 'chai';
import { cachedReplyError } from '../../../../src/core/upstream/client/cached-reply.ts';
import { settingsFor, startGateway } from '../../../support/gateway.ts';
import { json, startHttpUpstream } from '../../../support/platform/http-upstream.ts';

const AUTHORIZATION = ['authorization'];

describe('a reply to the credential of a caller', () => {
  it('is an error if a shared cache has sent it before, and is taken otherwise', () => {
    for (const headers of [
      { age: '1' },
      { age: ['0', '12'] },
      { 'x-cache': 'Hit from cloudfront' },
      { 'x-cache': 'TCP_MEM_HIT from edge' },
      { 'cf-cache-status': 'HIT' },
      { 'cache-status': 'edge; hit; ttl=30' },
      { 'x-acme-proxy-cache': 'hit' },
      { 'x-cache-hits': '2' },
      { 'x-cache-hit': '1' },
      { 'x-cache-hits': '0, 1' },
      { 'x-cache-status': 'STALE' },
      { 'x-cache-status': 'UPDATING' },
      { 'cf-cache-status': 'REVALIDATED' },
      { 'x-cache': ['MISS', 'HIT'] },
      { 'x-cache': 'RefreshHit from cloudfront' },
      { 'x-magento-cache-debug': 'HIT' },
      { 'server-timing': 'edge; dur=1, cdn-cache; desc=HIT' },
      { age: '3', vary: 'Accept' },
    ]) {
      const error = cachedReplyError(headers, AUTHORIZATION);
      expect(error, JSON.stringify(headers)).to.include({ code: 'upstream_invalid' });
    }
    for (const headers of [
      {},
      { age: '0' },
      { 'x-cache': 'MISS' },
      { 'cache-status': 'edge; fwd=miss' },
      { 'cache-status': 'edge; fwd=stale; fwd-status=200' },
      { 'x-cache-status': 'EXPIRED' },
      { 'x-cache-hits': '0, 0' },
      { 'cache-control': 'public, max-age=3600' },
      { age: '3', vary: 'Accept-Encoding, authorization' },
      { 'x-cache': 'whitelisted' },
      { 'server-timing': 'cdn-cache; desc=MISS, db-cache; desc=hit' },
    ]) {
      expect(cachedReplyError(headers, AUTHORIZATION), JSON.stringify(headers)).to.equal(undefined);
    }
  });

  it('must vary by every header of the credential', () => {
    expect(cachedReplyError({ age: '3', vary: 'x-key' }, ['x-key', 'x-key-id'])).to.include({
      code: 'upstream_invalid',
    });
    expect(cachedReplyError({ age: '3', vary: 'x-key, x-key-id' }, ['x-key', 'x-key-id'])).to.equal(undefined);
  });
});

describe('a platform behind a shared cache', () => {
  const upstream = () =>
    startHttpUpstream(json({ tools: [{ id: 'a', name: 'A' }], nextPageToken: '' }, 200, { age: '5' }));

  it('is refused with an error that names the setting in the log, unless settings allow it', async () => {
    const { url } = await upstream();
    const refused = await (await startGateway(settingsFor(url))).read('tools');
    expect(refused.status).to.equal(502);
    const allowed = await startGateway(settingsFor(url, { upstream: { cachedReplies: 'allow' } }));
    expect((await allowed.read('tools')).status).to.equal(200);
  });

  it('may share what Portico reads with its own credential', async () => {
    const { url } = await upstream();
    const settings = settingsFor(url, { upstream: { credential: { kind: 'service', secret: 's3cret-s3cret' } } });
    const { read } = await startGateway({ ...settings, allowUnverifiedCallers: true });
    expect((await read('tools')).status).to.equal(200);
  });
});

describe('an upstream with conditional: false', () => {
  it('is sent no entity tag', async () => {
    const tag = { etag: '"same"' };
    const upstream = await startHttpUpstream(json({ tools: [{ id: 'a', name: 'A' }], nextPageToken: '' }, 200, tag));
    for (const [conditional, sent] of [
      [true, '"same"'],
      [false, undefined],
    ] as const) {
      const resources = { tools: { cache: { ttlMs: 1, staleWhileRevalidateMs: 0 } } };
      const { read } = await startGateway({ ...settingsFor(upstream.url, { upstream: { conditional } }), resources });
      await read('tools');
      await new Promise((resolve) => setTimeout(resolve, 5));
      await read('tools');
      expect(upstream.requests.at(-1)?.headers['if-none-match']).to.equal(sent);
    }
  });
});
