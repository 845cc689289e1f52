import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { json } from '../../../support/platform/http-upstream.ts';
import { asking, calm, closed, errorOf, open, rejection, serve, serveRaw } from '../harness.ts';

describe('an upstream client', () => {
  describe('sends', () => {
    it('headers of the settings, and over them those of the request, but neither in place of what Portico sends', async () => {
      const server = await serve(json([]));
      const own = { Authorization: 'Bearer of-the-settings', 'Accept-Encoding': 'identity', 'X-Request-Id': 'theirs' };
      const headers = { Accept: 'application/vnd.github+json', 'User-Agent': 'acme', 'X-A': 'a', 'X-B': 'b', ...own };
      const request = { ...asking(), headers: { 'x-b': 'of-the-request', authorization: 'x' } };
      await open(server.url, { headers }).get(request, calm());
      expect(server.requests[0]?.headers).to.include({
        accept: 'application/vnd.github+json',
        'user-agent': 'acme',
        'x-a': 'a',
        'x-b': 'of-the-request',
        authorization: 'Bearer secret-token',
        'accept-encoding': 'gzip, br',
        'x-request-id': 'request-1',
      });
    });
  });

  describe('when its signal aborts', () => {
    it('names the upstream that was too slow, which is a fault once the request was sent', async () => {
      const { url, sockets } = await serveRaw((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1'),
      );
      const late = new GatewayError('upstream_timeout');
      const slow = { code: 'upstream_timeout', upstream: 'projects' };
      const unsent = await errorOf(open(url).get(asking(), AbortSignal.abort(late)));
      expect(unsent).to.include({ ...slow, countsForBreaker: false });
      expect(sockets).to.have.length(0);
      const controller = new AbortController();
      const reading = errorOf(open(url).get({ ...asking(), hold: () => controller.abort(late) }, controller.signal));
      expect(await reading).to.include({ ...slow, countsForBreaker: true });
    });

    it('aborts the upstream request when the caller hangs up, and rejects with that very reason', async () => {
      const arrived = Promise.withResolvers<void>();
      const { url, sockets } = await serveRaw(() => arrived.resolve());
      const controller = new AbortController();
      const reading = rejection(open(url).get(asking(), controller.signal));
      await arrived.promise;
      const reason = new Error('the caller hung up');
      controller.abort(reason);
      expect(await reading).to.equal(reason);
      await closed(sockets);
    });
  });

  describe('when it is closed', () => {
    it('ends what is in flight or waiting, and refuses later calls', async () => {
      const arrived = Promise.withResolvers<void>();
      const { url, sockets } = await serveRaw(() => arrived.resolve());
      const upstream = open(url, { connections: 1 });
      const reads = [0, 1].map(() => errorOf(upstream.get(asking(), calm())));
      await arrived.promise;
      await upstream.close();
      for (const error of await Promise.all(reads)) expect(error.code).to.equal('draining');
      expect((await errorOf(upstream.get(asking(), calm()))).code).to.equal('draining');
      await closed(sockets);
      await upstream.close();
    });
  });

  it('rethrows errors that do not concern the upstream', async () => {
    const server = await serve(json([]));
    for (const bug of [new TypeError('a bug'), new RangeError('a bug')]) {
      const read = () => {
        throw bug;
      };
      expect(await rejection(open(server.url).get({ ...asking(), read }, calm()))).to.equal(bug);
    }
    const request = { ...asking(), authorization: { 'bad name': 'x' } };
    expect(await rejection(open(server.url).get(request, calm()))).to.not.be.instanceOf(GatewayError);
  });
});

describe('an upstream client that is listened to', () => {
  it('sends the request again without its condition where a 304 names another strong entity tag', async () => {
    for (const [sent, tag, count] of [
      ['"1"', '"2"', 2],
      ['W/"1"', '"2"', 2],
      ['"1"', '"1"', 1],
      ['W/"1"', '"1"', 1],
      ['"1"', 'W/"2"', 1],
      ['"1"', undefined, 1],
    ] as const) {
      const server = await serve((request, response) => {
        if (request.headers['if-none-match'] === undefined) response.end('[]');
        else response.writeHead(304, tag === undefined ? {} : { etag: tag }).end();
      });
      const reply = await open(server.url).get({ ...asking(), ifNoneMatch: sent }, calm());
      expect(reply.page).to.equal(count === 2 ? '[]' : undefined);
      expect(server.requests).to.have.length(count);
    }
  });
});
